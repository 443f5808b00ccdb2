
static SP_ASIDE const void *before_Waitall(struct sp_thread *t_, const void *site_, int count, void *array_of_requests, void *array_of_statuses)
{
	const int64_t params_[] = { (int64_t)(intptr_t)count, (int64_t)(intptr_t)array_of_requests, (int64_t)(intptr_t)array_of_statuses };
	return sp_before(t_, site_, 49, params_);
}

void sp_enter_Waitall(struct sp_thread *t_, const void *site_, unsigned flags_, int count, void *array_of_requests, void *array_of_statuses)
{
	if (sp_likely(sp_extra == SP_STACKS))
		site_ = sp_stack_site(t_, site_);
	else if (sp_unlikely(sp_extra))
		site_ = before_Waitall(t_, site_, count, array_of_requests, array_of_statuses);
	int64_t n_array_of_requests = sp_at_least_0((int64_t)count);
	uint64_t *w_ = sp_begin_enter(t_, site_);
	*w_++ = (uint64_t)(int64_t)count;
	w_ = sp_put_requests(t_, w_, array_of_requests, n_array_of_requests);
	sp_commit_enter(t_, w_, 49, flags_);
}

static SP_ASIDE uint64_t after_Waitall(struct sp_thread *t_, int rc_, int count, void *array_of_requests, void *array_of_statuses)
{
	uint64_t now_ = sp_ticks();
	const int64_t params_[] = { (int64_t)(intptr_t)count, (int64_t)(intptr_t)array_of_requests, (int64_t)(intptr_t)array_of_statuses };
	sp_after(t_, 49, (int64_t)rc_, now_, params_);
	return now_;
}

void sp_leave_Waitall(struct sp_thread *t_, int rc_, int count, void *array_of_requests, void *array_of_statuses, int ignored_)
{
	uint64_t now_ = sp_unlikely(sp_extra & SP_AFTER) ? after_Waitall(t_, rc_, count, array_of_requests, array_of_statuses) : sp_ticks();
	int64_t n_array_of_statuses = sp_at_least_0((int64_t)count);
	uint64_t *w_ = sp_begin_leave(t_, now_);
	unsigned flags_ = 0;
	if (sp_unlikely(rc_)) {
		flags_ = sp_has_outputs(rc_) ? SP_RC_FLAG : SP_RC_FLAG | SP_NOOUT_FLAG;
		*w_++ = (uint64_t)(int64_t)rc_;
	}
	if (!(flags_ & SP_NOOUT_FLAG)) {
		w_ = sp_put_statuses(t_, w_, array_of_statuses, n_array_of_statuses, ignored_ ? SP_STATUS_IGNORED : SP_STATUS_FILLED);
	}
	sp_commit(t_, w_, 49, SP_LEAVE, flags_);
}

static inline __attribute__((always_inline)) int call_Waitall(const void *site_, int pmpi_, int count, void *array_of_requests, void *array_of_statuses)
{
	struct sp_thread *t_ = &sp_self;
	if (sp_unlikely(!sp_next[49]))
		sp_require(49);
	if (sp_unlikely(!(pmpi_ ? sp_open_pmpi(t_, 1, site_) : sp_open(t_, 1, site_))))
		return pmpi_ ? P_MPI_Waitall(count, array_of_requests, array_of_statuses) : N_MPI_Waitall(count, array_of_requests, array_of_statuses);
	struct sp_own_status own_[SP_OWN_STATUSES];
	int ignored_ = array_of_statuses == sp_fl.statuses_ignore;
	if (ignored_)
		array_of_statuses = sp_statuses_new(sp_at_least_0((int64_t)count), own_, sizeof own_);
	sp_enter_Waitall(t_, site_, 0, count, array_of_requests, array_of_statuses);
	sp_entered(t_);
	int rc_ = pmpi_ ? P_MPI_Waitall(count, array_of_requests, array_of_statuses) : N_MPI_Waitall(count, array_of_requests, array_of_statuses);
	sp_back(t_);
	sp_leave_Waitall(t_, rc_, count, array_of_requests, array_of_statuses, ignored_);
	if (ignored_)
		sp_statuses_free(array_of_statuses, own_);
	return rc_;
}

SP_API int MPI_Waitall(int count, void *array_of_requests, void *array_of_statuses);
SP_API int MPI_Waitall(int count, void *array_of_requests, void *array_of_statuses)
{
	return call_Waitall(__builtin_return_address(0), 0, count, array_of_requests, array_of_statuses);
}

SP_PMPI int PMPI_Waitall(int count, void *array_of_requests, void *array_of_statuses);
SP_PMPI int PMPI_Waitall(int count, void *array_of_requests, void *array_of_statuses)
{
	return call_Waitall(__builtin_return_address(0), 1, count, array_of_requests, array_of_statuses);
}
