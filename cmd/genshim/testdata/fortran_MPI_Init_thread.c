

__attribute__((used)) static void wrap_mpi_init_thread_(void *f_required, void *f_provided, void *f_ierror)
{
	sp_f_Init_thread(__builtin_return_address(0), SP_F_PLAIN, f_required, f_provided, f_ierror);
}

SP_API void pmpi_init_thread_(void *f_required, void *f_provided, void *f_ierror)
{
	sp_f_Init_thread(__builtin_return_address(0), SP_F_PLAIN | SP_F_PMPI, f_required, f_provided, f_ierror);
}
SP_TRAMPOLINE(mpi_init_thread_, wrap_mpi_init_thread_);

SP_API void mpi_init_thread_f08_(void *f_required, void *f_provided, void *f_ierror)
{
	sp_f_Init_thread(__builtin_return_address(0), SP_F_08, f_required, f_provided, f_ierror);
}

SP_API void pmpi_init_thread_f08_(void *f_required, void *f_provided, void *f_ierror)
{
	sp_f_Init_thread(__builtin_return_address(0), SP_F_08 | SP_F_PMPI, f_required, f_provided, f_ierror);
}
SP_F_ALIAS(pmpir_init_thread_f08_, pmpi_init_thread_f08_);

