# A Spack recipe: copy this folder to packages/spoor of a repository of recipes.
from spack.package import *


class Spoor(MakefilePackage):
    """Keeps every MPI call of a program in one small file, and answers questions from it."""

    homepage = "https://github.com/spoor-hpc/spoor"
    git = "https://github.com/spoor-hpc/spoor.git"

    license("MIT")

    version("main", branch="main")
    version("1.1.0", tag="v1.1.0")
    version("1.0.0", tag="v1.0.0")

    depends_on("c", type="build")
    depends_on("go@1.26:", type="build")
    # No MPI: one build serves all of them.

    def install(self, spec, prefix):
        make("install", "PREFIX=" + prefix)
