
static void sp_f_File_open(const void *site_, int form_, void *f_comm, void *f_filename, void *f_amode, void *f_info, void *f_fh, void *f_ierror, size_t l_filename)
{
	static void *next_[SP_F_SLOTS];
	struct sp_thread *t_ = &sp_self;
	void (*real_)(void *, void *, void *, void *, void *, void *, size_t);
	*(void **)&real_ = sp_f_next(next_, "mpi_file_open", form_);
	if (sp_unlikely(sp_f_is_absent(*(void **)&real_, f_ierror)))
		return;
	int pmpi_ = form_ & SP_F_PMPI;
	form_ &= ~SP_F_PMPI;
	if (sp_unlikely(!(pmpi_ ? sp_open_pmpi(t_, SP_HANDLES_MPI_File_open, site_) : sp_open(t_, SP_HANDLES_MPI_File_open, site_)))) {
		real_(f_comm, f_filename, f_amode, f_info, f_fh, f_ierror, l_filename);
		return;
	}
	int error_ = 0;
	if (!f_ierror)
		f_ierror = &error_;
	struct sp_f_pool pool_;
	pool_.used = 0;
	pool_.more = NULL;
	intptr_t comm = sp_f_handle(f_comm, SP_ID_MPI_Comm_f2c);
	const char *filename = sp_f_string(&pool_, f_filename, l_filename, SP_F_INPUT);
	int amode = (int)sp_ld32(f_amode);
	intptr_t info = sp_f_handle(f_info, SP_ID_MPI_Info_f2c);
	intptr_t v_fh = 0;
	void *fh = &v_fh;
	sp_enter_File_open(t_, site_, SP_FORTRAN_FLAG, comm, filename, amode, info, fh);
	sp_entered(t_);
	real_(f_comm, f_filename, f_amode, f_info, f_fh, f_ierror, l_filename);
	sp_back(t_);
	int rc_ = (int)sp_ld32(f_ierror);
	if (sp_has_outputs(rc_)) {
		v_fh = (intptr_t)sp_f_file(f_fh);
	}
	sp_leave_File_open(t_, rc_, comm, filename, amode, info, fh);
	sp_f_done(&pool_);
}

__attribute__((used)) static void wrap_mpi_file_open_(void *f_comm, void *f_filename, void *f_amode, void *f_info, void *f_fh, void *f_ierror, size_t l_filename)
{
	sp_f_File_open(__builtin_return_address(0), SP_F_PLAIN, f_comm, f_filename, f_amode, f_info, f_fh, f_ierror, l_filename);
}

SP_API void pmpi_file_open_(void *f_comm, void *f_filename, void *f_amode, void *f_info, void *f_fh, void *f_ierror, size_t l_filename)
{
	sp_f_File_open(__builtin_return_address(0), SP_F_PLAIN | SP_F_PMPI, f_comm, f_filename, f_amode, f_info, f_fh, f_ierror, l_filename);
}
SP_TRAMPOLINE(mpi_file_open_, wrap_mpi_file_open_);

SP_API void mpi_file_open_f08_(void *f_comm, void *f_filename, void *f_amode, void *f_info, void *f_fh, void *f_ierror, size_t l_filename)
{
	sp_f_File_open(__builtin_return_address(0), SP_F_08, f_comm, f_filename, f_amode, f_info, f_fh, f_ierror, l_filename);
}

SP_API void pmpi_file_open_f08_(void *f_comm, void *f_filename, void *f_amode, void *f_info, void *f_fh, void *f_ierror, size_t l_filename)
{
	sp_f_File_open(__builtin_return_address(0), SP_F_08 | SP_F_PMPI, f_comm, f_filename, f_amode, f_info, f_fh, f_ierror, l_filename);
}
SP_F_ALIAS(pmpir_file_open_f08_, pmpi_file_open_f08_);

