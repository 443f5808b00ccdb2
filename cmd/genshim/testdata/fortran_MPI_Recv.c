
static void sp_f_Recv(const void *site_, int form_, void *f_buf, void *f_count, void *f_datatype, void *f_source, void *f_tag, void *f_comm, void *f_status, void *f_ierror)
{
	static void *next_[SP_F_SLOTS];
	struct sp_thread *t_ = &sp_self;
	void (*real_)(void *, void *, void *, void *, void *, void *, void *, void *);
	*(void **)&real_ = sp_f_next(next_, "mpi_recv", form_);
	if (sp_unlikely(sp_f_is_absent(*(void **)&real_, f_ierror)))
		return;
	int pmpi_ = form_ & SP_F_PMPI;
	form_ &= ~SP_F_PMPI;
	if (sp_unlikely(!(pmpi_ ? sp_open_pmpi(t_, SP_HANDLES_MPI_Recv, site_) : sp_open(t_, SP_HANDLES_MPI_Recv, site_)))) {
		real_(f_buf, f_count, f_datatype, f_source, f_tag, f_comm, f_status, f_ierror);
		return;
	}
	int error_ = 0;
	if (!f_ierror)
		f_ierror = &error_;
	void *buf = sp_f_buffer(f_buf, form_);
	int count = (int)sp_ld32(f_count);
	intptr_t datatype = sp_f_handle(f_datatype, SP_ID_MPI_Type_f2c);
	int source = (int)sp_ld32(f_source);
	int tag = (int)sp_ld32(f_tag);
	intptr_t comm = sp_f_handle(f_comm, SP_ID_MPI_Comm_f2c);
	void *status = f_status;
	struct sp_own_status own_ = { {0} };
	int ignored_ = sp_f_ignored(status);
	if (ignored_)
		status = f_status = &own_;
	sp_enter_Recv(t_, site_, SP_FORTRAN_FLAG, buf, count, datatype, source, tag, comm, status);
	sp_entered(t_);
	real_(f_buf, f_count, f_datatype, f_source, f_tag, f_comm, f_status, f_ierror);
	sp_back(t_);
	int rc_ = (int)sp_ld32(f_ierror);
	sp_leave_Recv(t_, rc_, buf, count, datatype, source, tag, comm, status, ignored_);
}

__attribute__((used)) static void wrap_mpi_recv_(void *f_buf, void *f_count, void *f_datatype, void *f_source, void *f_tag, void *f_comm, void *f_status, void *f_ierror)
{
	sp_f_Recv(__builtin_return_address(0), SP_F_PLAIN, f_buf, f_count, f_datatype, f_source, f_tag, f_comm, f_status, f_ierror);
}

SP_API void pmpi_recv_(void *f_buf, void *f_count, void *f_datatype, void *f_source, void *f_tag, void *f_comm, void *f_status, void *f_ierror)
{
	sp_f_Recv(__builtin_return_address(0), SP_F_PLAIN | SP_F_PMPI, f_buf, f_count, f_datatype, f_source, f_tag, f_comm, f_status, f_ierror);
}
SP_TRAMPOLINE(mpi_recv_, wrap_mpi_recv_);

SP_API void mpi_recv_f08_(void *f_buf, void *f_count, void *f_datatype, void *f_source, void *f_tag, void *f_comm, void *f_status, void *f_ierror)
{
	sp_f_Recv(__builtin_return_address(0), SP_F_08, f_buf, f_count, f_datatype, f_source, f_tag, f_comm, f_status, f_ierror);
}

SP_API void pmpi_recv_f08_(void *f_buf, void *f_count, void *f_datatype, void *f_source, void *f_tag, void *f_comm, void *f_status, void *f_ierror)
{
	sp_f_Recv(__builtin_return_address(0), SP_F_08 | SP_F_PMPI, f_buf, f_count, f_datatype, f_source, f_tag, f_comm, f_status, f_ierror);
}
SP_F_ALIAS(pmpir_recv_f08_, pmpi_recv_f08_);

SP_API void mpi_recv_f08ts_(void *f_buf, void *f_count, void *f_datatype, void *f_source, void *f_tag, void *f_comm, void *f_status, void *f_ierror)
{
	sp_f_Recv(__builtin_return_address(0), SP_F_08TS, f_buf, f_count, f_datatype, f_source, f_tag, f_comm, f_status, f_ierror);
}

SP_API void pmpi_recv_f08ts_(void *f_buf, void *f_count, void *f_datatype, void *f_source, void *f_tag, void *f_comm, void *f_status, void *f_ierror)
{
	sp_f_Recv(__builtin_return_address(0), SP_F_08TS | SP_F_PMPI, f_buf, f_count, f_datatype, f_source, f_tag, f_comm, f_status, f_ierror);
}
SP_F_ALIAS(pmpir_recv_f08ts_, pmpi_recv_f08ts_);

