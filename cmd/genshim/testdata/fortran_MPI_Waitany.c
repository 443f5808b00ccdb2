
static void sp_f_Waitany(const void *site_, int form_, void *f_count, void *f_array_of_requests, void *f_index, void *f_status, void *f_ierror)
{
	static void *next_[SP_F_SLOTS];
	struct sp_thread *t_ = &sp_self;
	void (*real_)(void *, void *, void *, void *, void *);
	*(void **)&real_ = sp_f_next(next_, "mpi_waitany", form_);
	if (sp_unlikely(sp_f_is_absent(*(void **)&real_, f_ierror)))
		return;
	int pmpi_ = form_ & SP_F_PMPI;
	form_ &= ~SP_F_PMPI;
	if (sp_unlikely(!(pmpi_ ? sp_open_pmpi(t_, SP_HANDLES_MPI_Waitany, site_) : sp_open(t_, SP_HANDLES_MPI_Waitany, site_)))) {
		real_(f_count, f_array_of_requests, f_index, f_status, f_ierror);
		return;
	}
	int error_ = 0;
	if (!f_ierror)
		f_ierror = &error_;
	struct sp_f_pool pool_;
	pool_.used = 0;
	pool_.more = NULL;
	int count = (int)sp_ld32(f_count);
	int v_index = 0;
	int *index = &v_index;
	void *status = f_status;
	void *array_of_requests = sp_f_handles(&pool_, f_array_of_requests, sp_at_least_0((int64_t)count), SP_ID_MPI_Request_f2c);
	struct sp_own_status own_ = { {0} };
	int ignored_ = sp_f_ignored(status);
	if (ignored_)
		status = f_status = &own_;
	t_->request_at = f_array_of_requests;
	sp_enter_Waitany(t_, site_, SP_FORTRAN_FLAG, count, array_of_requests, index, status);
	t_->request_at = NULL;
	sp_entered(t_);
	real_(f_count, f_array_of_requests, f_index, f_status, f_ierror);
	sp_back(t_);
	int rc_ = (int)sp_ld32(f_ierror);
	if (sp_has_outputs(rc_)) {
		v_index = (int)sp_f_index(f_index, count, form_);
	}
	t_->request_at = f_array_of_requests;
	sp_leave_Waitany(t_, rc_, count, array_of_requests, index, status, ignored_);
	t_->request_at = NULL;
	sp_f_done(&pool_);
}

__attribute__((used)) static void wrap_mpi_waitany_(void *f_count, void *f_array_of_requests, void *f_index, void *f_status, void *f_ierror)
{
	sp_f_Waitany(__builtin_return_address(0), SP_F_PLAIN, f_count, f_array_of_requests, f_index, f_status, f_ierror);
}

SP_API void pmpi_waitany_(void *f_count, void *f_array_of_requests, void *f_index, void *f_status, void *f_ierror)
{
	sp_f_Waitany(__builtin_return_address(0), SP_F_PLAIN | SP_F_PMPI, f_count, f_array_of_requests, f_index, f_status, f_ierror);
}
SP_TRAMPOLINE(mpi_waitany_, wrap_mpi_waitany_);

SP_API void mpi_waitany_f08_(void *f_count, void *f_array_of_requests, void *f_index, void *f_status, void *f_ierror)
{
	sp_f_Waitany(__builtin_return_address(0), SP_F_08, f_count, f_array_of_requests, f_index, f_status, f_ierror);
}

SP_API void pmpi_waitany_f08_(void *f_count, void *f_array_of_requests, void *f_index, void *f_status, void *f_ierror)
{
	sp_f_Waitany(__builtin_return_address(0), SP_F_08 | SP_F_PMPI, f_count, f_array_of_requests, f_index, f_status, f_ierror);
}
SP_F_ALIAS(pmpir_waitany_f08_, pmpi_waitany_f08_);

