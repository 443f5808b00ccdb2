/* counted.h: the program's own account of rounds, by file and line. */
#ifdef __cplusplus
extern "C"
#else
extern
#endif
void counted(const char *file, int line);
#define R counted(__FILE__, __LINE__)
