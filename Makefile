# make            bin/libspoor.so, bin/libspoor-io.so, bin/libspoor-engine.so, bin/spoor, bin/spoor-replay with bin/libspoor-replay.so
# make pass       bin/spoor-pass-N.so, plugins of clang and flang, for each LLVM N whose development files are installed
# make install    PREFIX=/usr/local
# make dist       build/spoor-VERSION-linux-ARCH.tar.gz, which works wherever it is unpacked
# make deb        build/spoor_VERSION_ARCH.deb
# make test       everything; needs an MPI for the packages below test/
# make sanitized  the shim with sanitizers, for its stress tests
# make race       packages that use goroutines, under the race detector

ifeq ($(MAKELEVEL)$(findstring j,$(firstword -$(MAKEFLAGS))),0)
MAKEFLAGS += -j$(shell nproc)
endif

PREFIX  ?= /usr/local
DESTDIR ?=
CC      ?= cc
GO      ?= go
CFLAGS  ?= -O2 -g

# The same source gives the same bytes, wherever it stands. Tests are built with the same flags,
# so that nothing is compiled twice; C only where there is some.
export GOFLAGS := $(filter-out -trimpath,$(GOFLAGS)) -trimpath
export CGO_ENABLED = 0
GO_BUILD = $(GO) build -buildvcs=auto
SAME = -ffile-prefix-map=$(CURDIR)=.

SHIM_CFLAGS = $(SAME) -std=gnu11 -D_GNU_SOURCE= -Wall -Wextra -Werror -fPIC -fvisibility=hidden -fno-semantic-interposition -Ishim -Ibuild/gen
# -z defs: an unresolved symbol is found here, not in a user's program.
SHIM_LDFLAGS = -shared -Wl,-z,defs -Wl,-z,now -Wl,-soname,$(notdir $@) -pthread -ldl

GENERATED = build/gen/stamp
SHIM_OBJS = $(patsubst shim/%.c,build/shim/%.o,$(wildcard shim/*.c))

all: bin/libspoor.so bin/libspoor-io.so bin/libspoor-engine.so bin/libspoor-rounds.so bin/spoor bin/spoor-replay build/man/stamp build/completion/stamp

# The names of generated files are known only once they are there.
bin/libspoor.so: $(GENERATED)
	@$(MAKE) --no-print-directory shim-objects
	@mkdir -p bin
	$(CC) $(CFLAGS) -o $@.new $(SHIM_OBJS) build/gen/*.o $(SHIM_LDFLAGS)
	mv $@.new $@

shim-objects: $(SHIM_OBJS) $(patsubst %.c,%.o,$(wildcard build/gen/*.c))

$(GENERATED): $(wildcard cmd/genshim/*.go cmd/genshim/*.tmpl mpi/*.go mpi/*.txt) internal/reproduce/reissue/files.go
	$(GO) run ./cmd/genshim build/gen
	@touch $@

build/shim/%.o: shim/%.c
	@mkdir -p build/shim
	$(CC) $(CFLAGS) $(SHIM_CFLAGS) -MMD -c -o $@ $<

build/gen/%.o: build/gen/%.c
	$(CC) $(CFLAGS) $(SHIM_CFLAGS) -MMD -c -o $@ $<

# The same with wrappers of what works on files, see shim/io/io.h. These define functions that
# the compiler knows, from prototypes of their own.
IO_SOURCES = $(wildcard shim/io/*.c)
IO_OBJS = $(patsubst shim/io/%.c,build/shim/io/%.o,$(IO_SOURCES)) build/gen/io/calls.o

bin/libspoor-io.so: bin/libspoor.so $(IO_OBJS)
	$(CC) $(CFLAGS) -o $@.new $(SHIM_OBJS) build/gen/*.o $(IO_OBJS) $(SHIM_LDFLAGS)
	mv $@.new $@

build/shim/io/%.o: shim/io/%.c $(GENERATED)
	@mkdir -p build/shim/io
	$(CC) $(CFLAGS) $(SHIM_CFLAGS) -Ishim/io -MMD -c -o $@ $<

build/gen/io/calls.o: $(GENERATED)
	$(CC) $(CFLAGS) $(SHIM_CFLAGS) -Ishim/io -fno-builtin -D_FORTIFY_SOURCE=0 -MMD -c -o $@ build/gen/io/calls.c

-include $(wildcard build/shim/*.d build/shim/io/*.d build/gen/*.d build/gen/io/*.d)

bin/libspoor.so: $(wildcard shim/*.c shim/*.h shim/arch/*.h)

# The shim with a sanitizer. Not the wrappers, thousands of functions of a few forms; nor
# dlsym.c, which sanitizers call before they can be called.
SANITIZED = $(filter-out shim/dlsym.c,$(wildcard shim/*.c))

define sanitizer
build/$(1)/%.o: shim/%.c | $(GENERATED)
	@mkdir -p build/$(1)
	$$(CC) -O1 -g -fsanitize=$(2) $$(SHIM_CFLAGS) -MMD -c -o $$@ $$<

build/$(1)/libspoor.so: $(SANITIZED:shim/%.c=build/$(1)/%.o) bin/libspoor.so
	$$(CC) -fsanitize=$(2) -o $$@.new $(SANITIZED:shim/%.c=build/$(1)/%.o) build/shim/dlsym.o build/gen/*.o $$(SHIM_LDFLAGS)
	mv $$@.new $$@

build/$(1)/io/%.o: shim/io/%.c | $(GENERATED)
	@mkdir -p build/$(1)/io
	$$(CC) -O1 -g -fsanitize=$(2) $$(SHIM_CFLAGS) -Ishim/io -MMD -c -o $$@ $$<

build/$(1)/libspoor-io.so: build/$(1)/libspoor.so $(IO_SOURCES:shim/io/%.c=build/$(1)/io/%.o) bin/libspoor-io.so
	$$(CC) -fsanitize=$(2) -o $$@.new $(SANITIZED:shim/%.c=build/$(1)/%.o) $(IO_SOURCES:shim/io/%.c=build/$(1)/io/%.o) build/shim/dlsym.o build/gen/*.o build/gen/io/calls.o $$(SHIM_LDFLAGS)
	mv $$@.new $$@

-include $$(wildcard build/$(1)/*.d build/$(1)/io/*.d)
endef

$(eval $(call sanitizer,asan,address))
$(eval $(call sanitizer,tsan,thread))

sanitized: $(foreach s,asan tsan,build/$(s)/libspoor.so build/$(s)/libspoor-io.so)

GO_SOURCES = $(shell find engine cmd internal mpi trace -type f -not -name '*_test.go' -not -path '*/testdata/*' 2>/dev/null) go.mod

# No SIGURG for the program's threads: a handler of theirs would see it.
ENGINE_LDFLAGS = -s -w -X runtime.godebugDefault=asyncpreemptoff=1,containermaxprocs=0,updatemaxprocs=0 -extldflags=-Wl,--wrap=mmap,--wrap=pthread_getattr_np

bin/libspoor-engine.so: $(GO_SOURCES) $(wildcard engine/*.c engine/*.h) shim/bounds.h shim/engine.h shim/record.h
	CGO_ENABLED=1 $(GO_BUILD) -buildmode=c-shared -ldflags '$(ENGINE_LDFLAGS)' -o $@ ./engine
	@rm -f bin/libspoor-engine.h

# A copy, as the linker writes pages in any order: the kernel then has them one by one, and each start took 1.5 ms longer.
bin/spoor: $(GO_SOURCES) $(wildcard internal/reproduce/proxy/runtime/*)
	$(GO_BUILD) -ldflags '-s -w' -o $@.new ./cmd/spoor
	install $@.new $@
	@rm $@.new

# The replayer: stand-ins and outcomes in C, all else in Go. It loads an MPI when it runs.
AGAIN = $(addprefix internal/reproduce/proxy/runtime/,posix.c streams.c scratch.c)

bin/libspoor-replay.so: $(wildcard replayer/under/*) $(AGAIN) $(addprefix internal/reproduce/proxy/runtime/,posix.h scratch.h common.h) $(GENERATED)
	@mkdir -p bin
	$(CC) $(CFLAGS) $(SAME) -std=gnu11 -Wall -Wextra -Werror -Ibuild/gen/io -fPIC -fvisibility=hidden -shared -Wl,-z,defs -Wl,-soname,libspoor-replay.so -o $@.new \
		replayer/under/under.c replayer/under/files.c $(AGAIN) -ldl
	mv $@.new $@

bin/spoor-replay: $(GO_SOURCES) $(wildcard replayer/*.go replayer/*.[ch]) internal/reproduce/proxy/runtime/common.h bin/libspoor-replay.so
	CGO_ENABLED=1 $(GO_BUILD) -ldflags '-buildid= -X runtime.godebugDefault=asyncpreemptoff=1' -o $@ ./replayer

# Rounds of loops: what the compiler has the program count, and what reads it.
bin/libspoor-rounds.so: papers/pass/rounds.c shim/spoor_plugin.h
	@mkdir -p bin
	$(CC) $(CFLAGS) $(SAME) -std=gnu11 -Wall -Wextra -Werror -Ishim -fPIC -fvisibility=hidden -shared -Wl,-z,defs -Wl,-soname,$(notdir $@) -o $@.new $< -pthread
	mv $@.new $@

LLVMS = $(foreach n,14 15 16 17 18 19,$(if $(shell command -v llvm-config-$(n)),$(n)))

pass: $(LLVMS:%=bin/spoor-pass-%.so)

# LLVM's own operator delete belongs to another new than GCC thinks.
bin/spoor-pass-%.so: papers/pass/loops.cpp
	@mkdir -p bin
	$(CXX) -O2 $(SAME) -std=c++17 -Wall -Wextra -Werror -Wno-unused-parameter -Wno-mismatched-new-delete -fno-rtti -fPIC -fvisibility=hidden -shared \
		-isystem $(shell llvm-config-$* --includedir) -o $@.new $<
	mv $@.new $@

# What --help says, as pages.
build/man/stamp: bin/spoor $(wildcard docs/*.md papers/*.md)
	rm -rf build/man
	bin/spoor man build/man docs/*.md papers/*.md
	@touch $@

build/completion/stamp: bin/spoor
	@mkdir -p build/completion
	for shell in bash zsh fish; do bin/spoor completion $$shell >build/completion/$$shell || exit 1; done
	@touch $@

install: all
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/lib/spoor
	install -m 755 bin/spoor $(DESTDIR)$(PREFIX)/bin/
	install -m 644 bin/libspoor.so bin/libspoor-io.so bin/libspoor-engine.so bin/libspoor-replay.so bin/libspoor-rounds.so $(wildcard bin/spoor-pass-*.so) $(DESTDIR)$(PREFIX)/lib/spoor/
	install -m 755 bin/spoor-replay $(DESTDIR)$(PREFIX)/lib/spoor/
	install -d $(DESTDIR)$(PREFIX)/include
	install -m 644 shim/spoor_plugin.h $(DESTDIR)$(PREFIX)/include/spoor.h
	install -d $(DESTDIR)$(PREFIX)/share/man/man1
	install -m 644 build/man/*.1 $(DESTDIR)$(PREFIX)/share/man/man1/
	install -D -m 644 build/completion/bash $(DESTDIR)$(PREFIX)/share/bash-completion/completions/spoor
	install -D -m 644 build/completion/zsh $(DESTDIR)$(PREFIX)/share/zsh/site-functions/_spoor
	install -D -m 644 build/completion/fish $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/spoor.fish
	install -D -m 644 packaging/modulefile $(DESTDIR)$(PREFIX)/share/spoor/modulefile
	install -m 644 packaging/valgrind.supp $(DESTDIR)$(PREFIX)/share/spoor/
	install -D -m 644 packaging/python/spoor.py $(DESTDIR)$(PREFIX)/share/spoor/python/spoor.py
	install -d $(DESTDIR)$(PREFIX)/share/doc/spoor
	install -m 644 README.md LICENSE CHANGELOG.md build/man/*.md docs/*.png $(DESTDIR)$(PREFIX)/share/doc/spoor/

VERSION = $(shell sed -n 's/^const Version = "\(.*\)"/\1/p' internal/show/version.go)
DATE    = $(or $(SOURCE_DATE_EPOCH),$(shell git log -1 --format=%ct 2>/dev/null || echo 0))

dist: all
	+packaging/tarball $(VERSION) $(DATE)

deb: all
	+packaging/deb $(VERSION) $(DATE)

rpm: all
	+packaging/rpm/build $(VERSION) $(DATE)

# What a release has, with checksums, in build/release.
release: dist deb rpm
	rm -rf build/release && mkdir build/release
	cp build/spoor-$(VERSION)-linux-*.tar.gz build/spoor_$(VERSION)_*.deb build/spoor-$(VERSION)-*.rpm build/release/
	cd build/release && sha256sum * >SHA256SUMS

# What takes longest begins first. Most tests wait, for launchers and for ranks that sleep: of twice as many packages as there are
# processors some have something to compute.
LONGEST = ./test/run ./test/slurm ./test/timing ./bench/scale ./test/oracle ./test/extrapolate ./test/profile ./test/powers
PACKAGES = $(shell expr 2 \* $$(nproc))

# The plugins before the tests, as packages have those that are there.
test: all sanitized pass
	$(GO) vet ./...
	CGO_ENABLED=1 $(GO) vet ./engine ./replayer
	$(GO) test -vet=off -timeout 30m -p $(PACKAGES) $(LONGEST) ./...
	LD_LIBRARY_PATH=$(CURDIR)/bin CGO_ENABLED=1 $(GO) test -vet=off ./engine ./replayer

# Packages that start goroutines or share something between them; others have no races to find.
# The detector takes some ten times as long: -short leaves out long loops.
RACE = ./engine ./replayer ./mpi/... ./trace ./internal/file/sections ./internal/record/event ./internal/file/wire ./internal/run/deliver ./internal/merge \
	./internal/run/launch ./internal/run/recover ./internal/reproduce/replay ./internal/report ./internal/analyse/matrix ./internal/ops \
	./trace/handles ./internal/code/symbolise ./internal/timing ./internal/timing/series

race: all
	LD_LIBRARY_PATH=$(CURDIR)/bin CGO_ENABLED=1 $(GO) test -vet=off -race -short -timeout 15m $(RACE)
	CGO_ENABLED=1 $(GO) test -vet=off -race -run 'TestTimes|TestSizes' ./internal/extrapolate

clean:
	rm -rf bin build

.PHONY: all shim-objects sanitized pass install dist deb rpm release test race clean
