package skeleton

import "github.com/spoor-hpc/spoor/bench/scale/vmpi"

// A multipartition gives each of q² ranks q cells of a q³ cube of cells along
// a diagonal, so that in each sweep all ranks are busy in every stage.
type multipartition struct {
	q    int
	n    int      // points of the whole cube in each direction
	cell [][3]int // coordinates in the cube of this rank's cells
	prev [3]int64
	next [3]int64
}

func newMultipartition(v *vmpi.Rank, points int) *multipartition {
	q := root(v.Size)
	x, y := v.Rank%q, v.Rank/q
	m := &multipartition{q: q, n: points}
	for c := range q {
		m.cell = append(m.cell, [3]int{(x + c) % q, (y + q - c) % q, c})
	}
	rank := func(x, y int) int64 { return int64((x+q)%q + (y+q)%q*q) }
	// In each direction, the next cells of all of this rank's cells belong to one rank; so do the previous cells.
	m.next = [3]int64{rank(x+1, y), rank(x, y+1), rank(x-1, y+1)}
	m.prev = [3]int64{rank(x-1, y), rank(x, y-1), rank(x+1, y-1)}
	return m
}

// size returns how many points this rank's c-th cell has in a direction (0 to 2).
func (m *multipartition) size(c, dir int) int64 { return share(m.n, m.q, m.cell[c][dir]) }

// slice returns which of this rank's cells is worked on in a stage of the sweep in a direction.
func (m *multipartition) slice(dir, stage int) int {
	switch dir {
	case 0:
		return (stage - m.cell[0][0] + m.q) % m.q
	case 1:
		return (m.cell[0][1] - stage + m.q) % m.q
	}
	return stage
}

// faces exchanges the faces of all cells with the six neighbours.
func (m *multipartition) faces(v *vmpi.Rank, site int) {
	if m.q == 1 {
		return
	}
	var sum [3]int64
	for c := range m.cell {
		for d := range 3 {
			if m.cell[c][d] > 0 {
				sum[d] += 10 * m.size(c, (d+1)%3) * m.size(c, (d+2)%3)
			}
		}
	}
	var rs []vmpi.Request
	at := vmpi.Static(4096)
	for d := range 3 {
		rs = append(rs, v.Irecv(site, at, sum[d], vmpi.Double, m.next[d], int64(2000+1000*d), vmpi.World),
			v.Irecv(site+1, at.Plus(1<<24), sum[d], vmpi.Double, m.prev[d], int64(3000+1000*d), vmpi.World))
		at = at.Plus(sum[d] * 8)
	}
	at = vmpi.Static(1 << 26)
	for d := range 3 {
		rs = append(rs, v.Isend(site+2, at, sum[d], vmpi.Double, m.prev[d], int64(2000+1000*d), vmpi.World),
			v.Isend(site+3, at.Plus(1<<24), sum[d], vmpi.Double, m.next[d], int64(3000+1000*d), vmpi.World))
		at = at.Plus(sum[d] * 8)
	}
	v.Waitall(site+4, rs)
}

// BT is a solver that sweeps in each direction, cell after cell. All messages of a sweep have the same size, and a tag
// that depends on the cell.
func BT(v *vmpi.Rank) {
	m := newMultipartition(v, 408)
	largest := share(m.n, m.q, 0)
	v.Start(1)
	v.Bcast(4, vmpi.Static(0), 3, vmpi.Int, 0, vmpi.World)
	for range 2 {
		m.faces(v, 10)
		for d := range 3 {
			tag := func(c int) int64 {
				a, b := (d+1)%3, (d+2)%3
				return int64(10000*(d+1) + m.cell[c][a] + m.cell[c][b]*m.q)
			}
			var send vmpi.Request
			sweep := func(site, c int, from, to, words int64, first, last bool) {
				if !first {
					recv := v.Irecv(site, vmpi.Static(1<<27), words, vmpi.Double, from, tag(c), vmpi.World)
					v.Wait(site+1, &send)
					v.Wait(site+2, &recv)
				}
				if !last {
					send = v.Isend(site+3, vmpi.Static(1<<28), words, vmpi.Double, to, tag(c), vmpi.World)
				}
			}
			for s := range m.q {
				sweep(20+10*d, m.slice(d, s), m.prev[d], m.next[d], largest*largest*30, s == 0, s == m.q-1)
			}
			for s := m.q - 1; s >= 0; s-- {
				if s == m.q-1 && send.Active() {
					v.Wait(24+10*d, &send)
				}
				sweep(25+10*d, m.slice(d, s), m.next[d], m.prev[d], largest*largest*5, s == m.q-1, s == 0)
			}
			if send.Active() {
				v.Wait(29+10*d, &send)
			}
		}
	}
	v.Reduce(60, vmpi.Stack(48), vmpi.Stack(96), 5, vmpi.Double, vmpi.Sum, 0, vmpi.World)
	v.Finalize(61)
}

// SP is a solver that sweeps like BT, but the size of a message is that of its cell's face.
func SP(v *vmpi.Rank) {
	m := newMultipartition(v, 408)
	v.Start(1)
	v.Bcast(4, vmpi.Static(0), 3, vmpi.Int, 0, vmpi.World)
	for range 2 {
		m.faces(v, 10)
		for d := range 3 {
			face := func(c int) int64 { return m.size(c, (d+1)%3) * m.size(c, (d+2)%3) }
			rs := make([]vmpi.Request, 2)
			for s := range m.q {
				c := m.slice(d, s)
				if s > 0 {
					rs[1] = v.Irecv(20+10*d, vmpi.Static(1<<27), 22*face(c), vmpi.Double, m.prev[d], sweepTag(d), vmpi.World)
					v.Waitall(21+10*d, rs)
				}
				if s < m.q-1 {
					rs[0] = v.Isend(22+10*d, vmpi.Static(1<<28), 22*face(c), vmpi.Double, m.next[d], sweepTag(d), vmpi.World)
				}
			}
			for s := m.q - 1; s >= 0; s-- {
				c := m.slice(d, s)
				if s < m.q-1 {
					rs[1] = v.Irecv(23+10*d, vmpi.Static(1<<27), 10*face(c), vmpi.Double, m.next[d], sweepTag(d), vmpi.World)
					v.Waitall(24+10*d, rs)
				}
				if s > 0 {
					rs[0] = v.Isend(25+10*d, vmpi.Static(1<<28), 10*face(c), vmpi.Double, m.prev[d], sweepTag(d), vmpi.World)
				}
			}
			v.Waitall(26+10*d, rs)
		}
	}
	v.Reduce(60, vmpi.Stack(48), vmpi.Stack(96), 5, vmpi.Double, vmpi.Sum, 0, vmpi.World)
	v.Finalize(61)
}

// sweepTag returns the tag of all messages in the sweeps in direction d (0 to 2).
func sweepTag(d int) int64 { return int64(1000 * (d + 1)) }
