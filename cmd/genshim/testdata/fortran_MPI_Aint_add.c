
static int64_t sp_f_Aint_add(const void *site_, int form_, void *f_base, void *f_disp)
{
	static void *next_[SP_F_SLOTS];
	struct sp_thread *t_ = &sp_self;
	int64_t (*real_)(void *, void *);
	*(void **)&real_ = sp_f_next(next_, "mpi_aint_add", form_);
	if (sp_unlikely(sp_f_is_absent(*(void **)&real_, NULL)))
		return 0;
	int pmpi_ = form_ & SP_F_PMPI;
	form_ &= ~SP_F_PMPI;
	if (sp_unlikely(!(pmpi_ ? sp_open_pmpi(t_, SP_HANDLES_MPI_Aint_add, site_) : sp_open(t_, SP_HANDLES_MPI_Aint_add, site_)))) {
		return real_(f_base, f_disp);
	}
	int64_t base = (int64_t)sp_ld64(f_base);
	int64_t disp = (int64_t)sp_ld64(f_disp);
	sp_enter_Aint_add(t_, site_, SP_FORTRAN_FLAG, base, disp);
	sp_entered(t_);
	int64_t rc_ = real_(f_base, f_disp);
	sp_back(t_);
	sp_leave_Aint_add(t_, rc_, base, disp);
	return rc_;
}

__attribute__((used)) static int64_t wrap_mpi_aint_add_(void *f_base, void *f_disp)
{
	return sp_f_Aint_add(__builtin_return_address(0), SP_F_PLAIN, f_base, f_disp);
}

SP_API int64_t pmpi_aint_add_(void *f_base, void *f_disp)
{
	return sp_f_Aint_add(__builtin_return_address(0), SP_F_PLAIN | SP_F_PMPI, f_base, f_disp);
}
SP_TRAMPOLINE(mpi_aint_add_, wrap_mpi_aint_add_);

SP_API int64_t mpi_aint_add_f08_(void *f_base, void *f_disp)
{
	return sp_f_Aint_add(__builtin_return_address(0), SP_F_08, f_base, f_disp);
}

SP_API int64_t pmpi_aint_add_f08_(void *f_base, void *f_disp)
{
	return sp_f_Aint_add(__builtin_return_address(0), SP_F_08 | SP_F_PMPI, f_base, f_disp);
}
SP_F_ALIAS(pmpir_aint_add_f08_, pmpi_aint_add_f08_);

