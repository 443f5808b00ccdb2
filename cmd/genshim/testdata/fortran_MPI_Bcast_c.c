
static void sp_f_Bcast_c(const void *site_, int form_, void *f_buffer, void *f_count, void *f_datatype, void *f_root, void *f_comm, void *f_ierror)
{
	static void *next_[SP_F_SLOTS];
	struct sp_thread *t_ = &sp_self;
	void (*real_)(void *, void *, void *, void *, void *, void *);
	*(void **)&real_ = sp_f_next(next_, "mpi_bcast", form_);
	if (sp_unlikely(sp_f_is_absent(*(void **)&real_, f_ierror)))
		return;
	int pmpi_ = form_ & SP_F_PMPI;
	form_ &= ~SP_F_PMPI;
	if (sp_unlikely(!(pmpi_ ? sp_open_pmpi(t_, SP_HANDLES_MPI_Bcast_c, site_) : sp_open(t_, SP_HANDLES_MPI_Bcast_c, site_)))) {
		real_(f_buffer, f_count, f_datatype, f_root, f_comm, f_ierror);
		return;
	}
	int error_ = 0;
	if (!f_ierror)
		f_ierror = &error_;
	void *buffer = sp_f_buffer(f_buffer, form_);
	int64_t count = (int64_t)sp_ld64(f_count);
	intptr_t datatype = sp_f_handle(f_datatype, SP_ID_MPI_Type_f2c);
	int root = (int)sp_ld32(f_root);
	intptr_t comm = sp_f_handle(f_comm, SP_ID_MPI_Comm_f2c);
	sp_enter_Bcast_c(t_, site_, SP_FORTRAN_FLAG, buffer, count, datatype, root, comm);
	sp_entered(t_);
	real_(f_buffer, f_count, f_datatype, f_root, f_comm, f_ierror);
	sp_back(t_);
	int rc_ = (int)sp_ld32(f_ierror);
	sp_leave_Bcast_c(t_, rc_, buffer, count, datatype, root, comm);
}

SP_API void mpi_bcast_f08_large_(void *f_buffer, void *f_count, void *f_datatype, void *f_root, void *f_comm, void *f_ierror)
{
	sp_f_Bcast_c(__builtin_return_address(0), SP_F_08_LARGE, f_buffer, f_count, f_datatype, f_root, f_comm, f_ierror);
}

SP_API void pmpi_bcast_f08_large_(void *f_buffer, void *f_count, void *f_datatype, void *f_root, void *f_comm, void *f_ierror)
{
	sp_f_Bcast_c(__builtin_return_address(0), SP_F_08_LARGE | SP_F_PMPI, f_buffer, f_count, f_datatype, f_root, f_comm, f_ierror);
}
SP_F_ALIAS(pmpir_bcast_f08_large_, pmpi_bcast_f08_large_);

SP_API void mpi_bcast_c_f08_(void *f_buffer, void *f_count, void *f_datatype, void *f_root, void *f_comm, void *f_ierror)
{
	sp_f_Bcast_c(__builtin_return_address(0), SP_F_08_C, f_buffer, f_count, f_datatype, f_root, f_comm, f_ierror);
}

SP_API void pmpi_bcast_c_f08_(void *f_buffer, void *f_count, void *f_datatype, void *f_root, void *f_comm, void *f_ierror)
{
	sp_f_Bcast_c(__builtin_return_address(0), SP_F_08_C | SP_F_PMPI, f_buffer, f_count, f_datatype, f_root, f_comm, f_ierror);
}
SP_F_ALIAS(pmpir_bcast_c_f08_, pmpi_bcast_c_f08_);

SP_API void mpi_bcast_f08ts_large_(void *f_buffer, void *f_count, void *f_datatype, void *f_root, void *f_comm, void *f_ierror)
{
	sp_f_Bcast_c(__builtin_return_address(0), SP_F_08TS_LARGE, f_buffer, f_count, f_datatype, f_root, f_comm, f_ierror);
}

SP_API void pmpi_bcast_f08ts_large_(void *f_buffer, void *f_count, void *f_datatype, void *f_root, void *f_comm, void *f_ierror)
{
	sp_f_Bcast_c(__builtin_return_address(0), SP_F_08TS_LARGE | SP_F_PMPI, f_buffer, f_count, f_datatype, f_root, f_comm, f_ierror);
}
SP_F_ALIAS(pmpir_bcast_f08ts_large_, pmpi_bcast_f08ts_large_);

SP_API void mpi_bcast_c_f08ts_(void *f_buffer, void *f_count, void *f_datatype, void *f_root, void *f_comm, void *f_ierror)
{
	sp_f_Bcast_c(__builtin_return_address(0), SP_F_08TS_C, f_buffer, f_count, f_datatype, f_root, f_comm, f_ierror);
}

SP_API void pmpi_bcast_c_f08ts_(void *f_buffer, void *f_count, void *f_datatype, void *f_root, void *f_comm, void *f_ierror)
{
	sp_f_Bcast_c(__builtin_return_address(0), SP_F_08TS_C | SP_F_PMPI, f_buffer, f_count, f_datatype, f_root, f_comm, f_ierror);
}
SP_F_ALIAS(pmpir_bcast_c_f08ts_, pmpi_bcast_c_f08ts_);

