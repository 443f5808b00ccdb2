#pragma once

// child_run runs a program that sees and prints nothing, for so many seconds at most. 0: it ended well.
int child_run(const char *file, char **argv, char **envp, int seconds);
