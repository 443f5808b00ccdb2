
static void sp_f_Win_allocate(const void *site_, int form_, void *f_size, void *f_disp_unit, void *f_info, void *f_comm, void *f_baseptr, void *f_win, void *f_ierror)
{
	static void *next_[SP_F_SLOTS];
	struct sp_thread *t_ = &sp_self;
	void (*real_)(void *, void *, void *, void *, void *, void *, void *);
	*(void **)&real_ = sp_f_next(next_, "mpi_win_allocate", form_);
	if (sp_unlikely(sp_f_is_absent(*(void **)&real_, f_ierror)))
		return;
	int pmpi_ = form_ & SP_F_PMPI;
	form_ &= ~SP_F_PMPI;
	if (sp_unlikely(!(pmpi_ ? sp_open_pmpi(t_, SP_HANDLES_MPI_Win_allocate, site_) : sp_open(t_, SP_HANDLES_MPI_Win_allocate, site_)))) {
		real_(f_size, f_disp_unit, f_info, f_comm, f_baseptr, f_win, f_ierror);
		return;
	}
	int error_ = 0;
	if (!f_ierror)
		f_ierror = &error_;
	int64_t size = (int64_t)sp_ld64(f_size);
	int disp_unit = (int)sp_ld32(f_disp_unit);
	intptr_t info = sp_f_handle(f_info, SP_ID_MPI_Info_f2c);
	intptr_t comm = sp_f_handle(f_comm, SP_ID_MPI_Comm_f2c);
	void *baseptr = f_baseptr;
	intptr_t v_win = 0;
	void *win = &v_win;
	sp_enter_Win_allocate(t_, site_, SP_FORTRAN_FLAG, size, disp_unit, info, comm, baseptr, win);
	sp_entered(t_);
	real_(f_size, f_disp_unit, f_info, f_comm, f_baseptr, f_win, f_ierror);
	sp_back(t_);
	int rc_ = (int)sp_ld32(f_ierror);
	if (sp_has_outputs(rc_)) {
		v_win = (intptr_t)sp_f_handle(f_win, SP_ID_MPI_Win_f2c);
	}
	sp_leave_Win_allocate(t_, rc_, size, disp_unit, info, comm, baseptr, win);
}

__attribute__((used)) static void wrap_mpi_win_allocate_(void *f_size, void *f_disp_unit, void *f_info, void *f_comm, void *f_baseptr, void *f_win, void *f_ierror)
{
	sp_f_Win_allocate(__builtin_return_address(0), SP_F_PLAIN, f_size, f_disp_unit, f_info, f_comm, f_baseptr, f_win, f_ierror);
}

SP_API void pmpi_win_allocate_(void *f_size, void *f_disp_unit, void *f_info, void *f_comm, void *f_baseptr, void *f_win, void *f_ierror)
{
	sp_f_Win_allocate(__builtin_return_address(0), SP_F_PLAIN | SP_F_PMPI, f_size, f_disp_unit, f_info, f_comm, f_baseptr, f_win, f_ierror);
}
SP_TRAMPOLINE(mpi_win_allocate_, wrap_mpi_win_allocate_);

__attribute__((used)) static void wrap_mpi_win_allocate_cptr_(void *f_size, void *f_disp_unit, void *f_info, void *f_comm, void *f_baseptr, void *f_win, void *f_ierror)
{
	sp_f_Win_allocate(__builtin_return_address(0), SP_F_CPTR, f_size, f_disp_unit, f_info, f_comm, f_baseptr, f_win, f_ierror);
}

SP_API void pmpi_win_allocate_cptr_(void *f_size, void *f_disp_unit, void *f_info, void *f_comm, void *f_baseptr, void *f_win, void *f_ierror)
{
	sp_f_Win_allocate(__builtin_return_address(0), SP_F_CPTR | SP_F_PMPI, f_size, f_disp_unit, f_info, f_comm, f_baseptr, f_win, f_ierror);
}
SP_TRAMPOLINE(mpi_win_allocate_cptr_, wrap_mpi_win_allocate_cptr_);

SP_API void mpi_win_allocate_f08_(void *f_size, void *f_disp_unit, void *f_info, void *f_comm, void *f_baseptr, void *f_win, void *f_ierror)
{
	sp_f_Win_allocate(__builtin_return_address(0), SP_F_08, f_size, f_disp_unit, f_info, f_comm, f_baseptr, f_win, f_ierror);
}

SP_API void pmpi_win_allocate_f08_(void *f_size, void *f_disp_unit, void *f_info, void *f_comm, void *f_baseptr, void *f_win, void *f_ierror)
{
	sp_f_Win_allocate(__builtin_return_address(0), SP_F_08 | SP_F_PMPI, f_size, f_disp_unit, f_info, f_comm, f_baseptr, f_win, f_ierror);
}
SP_F_ALIAS(pmpir_win_allocate_f08_, pmpi_win_allocate_f08_);

