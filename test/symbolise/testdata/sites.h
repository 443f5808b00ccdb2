void mark(const char *function, const char *file, int line);
__attribute__((noreturn)) void last_mark(const char *function, const char *file, int line);
void maps(void);
void library(int n);

#define MARK(function) mark(function, __FILE_NAME__, __LINE__)
#define LAST_MARK(function) last_mark(function, __FILE_NAME__, __LINE__)
