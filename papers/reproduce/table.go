package main

var quick = []string{"-n", "6", "-i", "5"}

// papers are the compared figures, by paper. The page omits figures that depend on a machine, and figures that only
// show a command's output.
var papers = []paper{
	{"Pilgrim (TPDS 2022)", []row{
		{"Fig. 7: NPB on 16K ranks", "go run ./bench/scale", "CG, MG some 100 KB; LU, FT constant", scale("cg", "mg", "lu", "ft")},
		{"Table 5: grammars", "spoor papers structure", "StirTurb 5.9 KB, Sedov 558 KB on 16K", sizes("heat2d", "stats", []int{4, 16}, "-n", "24", "-i", "40")},
		{"Table 6: Nek5000", "spoor info --storage", "27.4 MB on 512", scale("nek")},
		{"Tables 8, 9: CFG", "spoor papers codecs --codec cfg", "6.92, 7.18; 80, 83 dB; 7.05; 0.689 s", codec("cfg")},
		{"HIST", "spoor papers codecs --codec hist-sig", "15.20, 15.36; 42, 53 dB; 15.28; 0.124 s", codec("hist-sig")},
		{"SZ", "spoor papers codecs --codec sz", "10.06, 16.03; 60, 71 dB; 12.36; 0.115 s", codec("sz")},
		{"SZ-Clustered", "spoor papers codecs --codec sz-sig", "12.18, 15.39; 61, 71 dB; 13.60; 0.088 s", codec("sz-sig")},
		{"ZFP (1 ms, 10 ms)", "spoor papers codecs --codec zfp", "11.51, 8.52; 69, 85 dB; –", codec("zfp")},
		{"ZFP-Clustered", "spoor papers codecs --codec zfp-sig", "14.63, 8.09; 71, 84 dB; –", codec("zfp-sig")},
		{"spoor's own codec", "spoor papers codecs --codec place", "–", codec("place")},
		{"Fig. 8, 9: calls, patterns", "spoor info; spoor matrix", "pictures", said("text, CSV, PNG")},
		{"Fig. 13: overhead", "go run ./bench/cost", "up to 30 %", said("[cost](../docs/cost.md)")},
		{"§4.6: proxies", "spoor proxy; spoor diff", "same calls", sameCalls},
		{"Fig. 15: lines of proxies", "spoor proxy", "constant", lines},
	}},
	{"CYPRESS (SC 2014)", []row{
		{"Fig. 6, 7: tree", "spoor calltree", "from the compiler", said("from machine code")},
		{"Fig. 15: LU, CG", "spoor run", "near constant, sublinear", both(sizes("lu", "stats", []int{4, 16}, quick...), sizes("cg", "stats", []int{4, 16}, "-n", "64"))},
		{"Fig. 16: overhead", "go run ./bench/cost", "1.58 %, 2.2 MB", said("[cost](../docs/cost.md)")},
		{"Table I: compiling", "spoor papers pass", "+8.27 %", page("papers/pass.md", `(?m)^\| all \| (\S+) `, "$1 %, if iterations are counted")},
		{"Fig. 17, 20: patterns", "spoor matrix -o app.png", "pictures", said("PNG")},
		{"Fig. 21: prediction", "spoor simulate", "5.9 % off", page("docs/simulate.md", `mean of the sizes of these errors \| ([\d.]+) % \| ([\d.]+) %`, "$1 and $2 % off")},
	}},
	{"Preserving Time in Large-Scale Communication Traces (ICS 2008)", []row{
		{"Fig. 1: PRSDs", "spoor papers rsd", "loops of events", shown(`(?m)^ +loop .*$`, "heat2d", []string{"-n", "24", "-i", "40"}, "papers", "rsd")},
		{"Fig. 3: accuracy of histograms", "spoor run --timing hist", "quantiles 0.1 to 50 % off", page("papers/codecs.md", `quantiles are off by (\S+ to \S+) %`, "$1 %")},
		{"Fig. 4: by path", "spoor profile --histogram --by-previous", "by the call before", said("the same")},
		{"Fig. 6, 7: replayed time", "spoor replay", "−20 to +7 %", page("docs/replay.md", `(?m)^\| LAMMPS \| 591,053 \| stats \|.* (\S+) % \|$`, "LAMMPS: $1 %, as docs/replay.md has it")},
		{"Fig. 8, 9: sizes with times", "spoor run --timing hist", "near constant", times},
		{"Fig. 12: uneven barrier", "spoor efficiency", "extreme ranks", said("the same, and who is late")},
	}},
	{"Scala-H-Trace: Probabilistic Communication and I/O Tracing", []row{
		{"Fig. 2: POP", "spoor papers thin", "1/100 of lossless", page("docs/notes/014-reduce.md", `\| 1,024 \| ([\d,]+) \| [\d,]+ \| [\d,]+ \| [\d,]+ \| ([\d,]+) \|`, "ocean, 1,024 ranks: $1 → $2 B")},
		{"Fig. 5: replay of POP", "spoor papers replay", "5 to 12 % off", replayed("ocean", []string{"--trip-counts", "--tolerance", "100%"}, "-n", "64", "-i", "60")},
		{"Fig. 8: precision 95, 70, 0", "spoor papers thin --tolerance", "below 1/3, the same, about 1/18", precisions},
		{"§3: recursive merge (WLCS)", "spoor papers rsd --align order", "loops merge", shown(`(?m)^ +loop .*$`, "lu", quick, "papers", "rsd", "--align", "order")},
		{"§5: deterministic replay", "spoor papers replay", "no deadlock", said("[the same](thin.md)")},
	}},
	{"Tracing MPI Binaries for Knowledge Discovery", []row{
		{"Table 1: data of an event", "spoor dump --sites --times", "call, times, site", said("every parameter, call path")},
		{"Fig. 2, 3: profile, detailed", "spoor papers terms", "`(CPU2 : 1308792.75 + Allreduce2 : 128.75)[4] : 5235686`", shown(`(?m)^\d+\. \(.*Allreduce.*$`, "heat2d", []string{"-n", "24", "-i", "40"}, "papers", "terms", "--depth", "1")},
		{"Fig. 4: LU, terse", "spoor papers terms --style terse", "13 lines", shown(`(?m)^\d+\. \(.*\[.*$`, "lu", quick, "papers", "terms", "--style", "terse", "--depth", "1")},
	}},
}
