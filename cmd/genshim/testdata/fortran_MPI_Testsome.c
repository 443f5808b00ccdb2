
static void sp_f_Testsome(const void *site_, int form_, void *f_incount, void *f_array_of_requests, void *f_outcount, void *f_array_of_indices, void *f_array_of_statuses, void *f_ierror)
{
	static void *next_[SP_F_SLOTS];
	struct sp_thread *t_ = &sp_self;
	void (*real_)(void *, void *, void *, void *, void *, void *);
	*(void **)&real_ = sp_f_next(next_, "mpi_testsome", form_);
	if (sp_unlikely(sp_f_is_absent(*(void **)&real_, f_ierror)))
		return;
	int pmpi_ = form_ & SP_F_PMPI;
	form_ &= ~SP_F_PMPI;
	if (sp_unlikely(!(pmpi_ ? sp_open_pmpi(t_, SP_HANDLES_MPI_Testsome, site_) : sp_open(t_, SP_HANDLES_MPI_Testsome, site_)))) {
		real_(f_incount, f_array_of_requests, f_outcount, f_array_of_indices, f_array_of_statuses, f_ierror);
		return;
	}
	int error_ = 0;
	if (!f_ierror)
		f_ierror = &error_;
	struct sp_f_pool pool_;
	pool_.used = 0;
	pool_.more = NULL;
	int incount = (int)sp_ld32(f_incount);
	int *outcount = f_outcount;
	void *array_of_requests = sp_f_handles(&pool_, f_array_of_requests, sp_at_least_0((int64_t)incount), SP_ID_MPI_Request_f2c);
	int *array_of_indices = f_array_of_indices;
	void *array_of_statuses = f_array_of_statuses;
	struct sp_own_status own_[SP_OWN_STATUSES];
	int ignored_ = sp_f_ignored(array_of_statuses);
	if (ignored_)
		array_of_statuses = f_array_of_statuses = sp_statuses_new(sp_at_least_0((int64_t)incount), own_, sizeof own_);
	void *statuses_ = array_of_statuses;
	t_->request_at = f_array_of_requests;
	sp_enter_Testsome(t_, site_, SP_FORTRAN_FLAG, incount, array_of_requests, outcount, array_of_indices, array_of_statuses);
	t_->request_at = NULL;
	sp_entered(t_);
	real_(f_incount, f_array_of_requests, f_outcount, f_array_of_indices, f_array_of_statuses, f_ierror);
	sp_back(t_);
	int rc_ = (int)sp_ld32(f_ierror);
	if (sp_has_outputs(rc_)) {
		array_of_indices = sp_f_indices(&pool_, f_array_of_indices, sp_at_least_0((int64_t)sp_ld32(outcount)), incount, form_);
		array_of_statuses = sp_f_statuses(array_of_statuses, rc_);
	}
	t_->request_at = f_array_of_requests;
	sp_leave_Testsome(t_, rc_, incount, array_of_requests, outcount, array_of_indices, array_of_statuses, ignored_);
	t_->request_at = NULL;
	if (ignored_)
		sp_statuses_free(statuses_, own_);
	sp_f_done(&pool_);
}

__attribute__((used)) static void wrap_mpi_testsome_(void *f_incount, void *f_array_of_requests, void *f_outcount, void *f_array_of_indices, void *f_array_of_statuses, void *f_ierror)
{
	sp_f_Testsome(__builtin_return_address(0), SP_F_PLAIN, f_incount, f_array_of_requests, f_outcount, f_array_of_indices, f_array_of_statuses, f_ierror);
}

SP_API void pmpi_testsome_(void *f_incount, void *f_array_of_requests, void *f_outcount, void *f_array_of_indices, void *f_array_of_statuses, void *f_ierror)
{
	sp_f_Testsome(__builtin_return_address(0), SP_F_PLAIN | SP_F_PMPI, f_incount, f_array_of_requests, f_outcount, f_array_of_indices, f_array_of_statuses, f_ierror);
}
SP_TRAMPOLINE(mpi_testsome_, wrap_mpi_testsome_);

SP_API void mpi_testsome_f08_(void *f_incount, void *f_array_of_requests, void *f_outcount, void *f_array_of_indices, void *f_array_of_statuses, void *f_ierror)
{
	sp_f_Testsome(__builtin_return_address(0), SP_F_08, f_incount, f_array_of_requests, f_outcount, f_array_of_indices, f_array_of_statuses, f_ierror);
}

SP_API void pmpi_testsome_f08_(void *f_incount, void *f_array_of_requests, void *f_outcount, void *f_array_of_indices, void *f_array_of_statuses, void *f_ierror)
{
	sp_f_Testsome(__builtin_return_address(0), SP_F_08 | SP_F_PMPI, f_incount, f_array_of_requests, f_outcount, f_array_of_indices, f_array_of_statuses, f_ierror);
}
SP_F_ALIAS(pmpir_testsome_f08_, pmpi_testsome_f08_);

