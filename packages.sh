# packages.sh: need NAME…: install what is missing, by the name of a command or
# of a thing in the list below. Knows Debian and Ubuntu; elsewhere it says what
# to install.

package_of() {
	case $1 in
	gcc) echo gcc libc6-dev ;;
	make) echo make ;;
	g++) echo g++ ;;
	gfortran) echo gfortran ;;
	mpiexec.openmpi) echo openmpi-bin libopenmpi-dev ;;
	mpiexec.mpich) echo mpich libmpich-dev ;;
	lmp) echo lammps lammps-examples ;;
	hpcc) echo hpcc ;;
	zfp) echo libzfp-dev ;;
	scalapack) echo scalapack-mpi-test ;;
	mpi4py) echo python3-mpi4py ;;
	petsc4py) echo python3-petsc4py ;;
	rmpi) echo r-cran-rmpi ;;
	meep) echo meep-mpi-default ;;
	dgord) echo ptscotch ;;
	coarrays) echo libcoarrays-openmpi-dev ;;
	h5py-mpi) echo python3-h5py-mpi ;;
	NPopenmpi) echo netpipe-openmpi ;;
	NPmpich2) echo netpipe-mpich2 ;;
	nwchem.openmpi) echo nwchem-openmpi nwchem-data ;;
	cp2k.psmp) echo cp2k cp2k-data ;;
	chromium) echo chromium ;;
	otf2-print) echo otf2-tools ;;
	otf2) echo python3-otf2 ;;
	pandas) echo python3-pandas ;;
	pip) echo python3-pip python3-setuptools ;;
	node) echo nodejs npm ;;
	strace) echo strace ;;
	valgrind) echo valgrind ;;
	eztrace) echo eztrace ;;
	h5dump) echo hdf5-tools libhdf5-openmpi-dev ;;
	smpirun) echo libsimgrid-dev ;;
	modulecmd) echo environment-modules ;;
	ip) echo iproute2 ;;
	slurmctld) echo slurmctld slurmd slurm-client munge libpmi2-0 ;;
	clang-14 | clang-16 | clang-19) echo $1 llvm-${1#clang-}-dev ;;
	flang-new-16 | flang-new-19) echo flang-${1#flang-new-} libflang-${1#flang-new-}-dev ;;
	aarch64-linux-gnu-gcc) echo gcc-aarch64-linux-gnu libc6-dev-arm64-cross ;;
	esac
}

present() {
	case $1 in
	gcc) command -v gcc && [ -e /usr/include/stdlib.h ] ;;
	lmp) command -v lmp && [ -d /usr/share/lammps/examples ] ;;
	mpiexec.openmpi) command -v mpiexec.openmpi && command -v mpicc.openmpi ;;
	mpiexec.mpich) command -v mpiexec.mpich && command -v mpicc.mpich ;;
	scalapack) [ -d /usr/lib/x86_64-linux-gnu/scalapack ] ;;
	zfp) [ -e /usr/include/zfp.h ] ;;
	h5dump) command -v h5dump && [ -e /usr/include/hdf5/openmpi/hdf5.h ] ;;
	clang-1*) command -v $1 && command -v llvm-config-${1#clang-} ;;
	node) command -v node && command -v npm ;;
	modulecmd) [ -e /usr/lib/x86_64-linux-gnu/modulecmd.tcl ] ;;
	meep) ldd /usr/bin/meep | grep libmpi ;;
	rmpi) [ -e /usr/lib/R/site-library/Rmpi/libs/Rmpi.so ] ;;
	coarrays) [ -d /usr/lib/x86_64-linux-gnu/open-coarrays/openmpi/bin ] ;;
	petsc4py) ls /usr/lib/petscdir/petsc3.*/*-real/lib/python3/dist-packages/petsc4py ;;
	h5py-mpi) [ -d /usr/lib/python3/dist-packages/h5py/_debian_h5py_mpi ] ;;
	pip) /usr/bin/python3 -c "import setuptools, pip" ;; # this one first: it does not bear a distutils that is there
	mpi4py | otf2 | pandas) /usr/bin/python3 -c "import $1" ;;
	*) command -v "$1" ;;
	esac >/dev/null 2>&1
}

# want NAME…: the same, for what tests do without and say so: what a release of the
# system doesn't have is left out.
want() {
	for thing in "$@"; do
		(need "$thing") || echo "not installed: $thing" >&2
	done
}

need() {
	missing=
	for thing in "$@"; do
		present "$thing" || missing="$missing $(package_of "$thing")"
	done
	[ -n "$missing" ] || return 0
	if ! command -v apt-get >/dev/null; then
		echo "please install:$missing" >&2
		exit 1
	fi
	sudo=
	[ "$(id -u)" = 0 ] || sudo=sudo
	echo "installing:$missing" >&2
	$sudo apt-get update -q >&2
	# shellcheck disable=SC2086
	$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $missing >&2
}
