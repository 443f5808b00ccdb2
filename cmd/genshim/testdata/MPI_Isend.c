
static SP_ASIDE const void *before_Isend(struct sp_thread *t_, const void *site_, const void *buf, int count, intptr_t datatype, int dest, int tag, intptr_t comm, void *request)
{
	const int64_t params_[] = { (int64_t)(intptr_t)buf, (int64_t)(intptr_t)count, (int64_t)(intptr_t)datatype, (int64_t)(intptr_t)dest, (int64_t)(intptr_t)tag, (int64_t)(intptr_t)comm, (int64_t)(intptr_t)request };
	return sp_before(t_, site_, 34, params_);
}

void sp_enter_Isend(struct sp_thread *t_, const void *site_, unsigned flags_, const void *buf, int count, intptr_t datatype, int dest, int tag, intptr_t comm, void *request)
{
	if (sp_likely(sp_extra == SP_STACKS))
		site_ = sp_stack_site(t_, site_);
	else if (sp_unlikely(sp_extra))
		site_ = before_Isend(t_, site_, buf, count, datatype, dest, tag, comm, request);
	uint64_t *w_ = sp_begin_enter(t_, site_);
	w_ = sp_put_address(w_, (const void *)buf);
	*w_++ = (uint64_t)(int64_t)count;
	*w_++ = sp_handle(datatype);
	*w_++ = (uint64_t)(int64_t)dest;
	*w_++ = (uint64_t)(int64_t)tag;
	*w_++ = sp_handle(comm);
	sp_commit_enter(t_, w_, 34, flags_);
}

static SP_ASIDE uint64_t after_Isend(struct sp_thread *t_, int rc_, const void *buf, int count, intptr_t datatype, int dest, int tag, intptr_t comm, void *request)
{
	uint64_t now_ = sp_ticks();
	const int64_t params_[] = { (int64_t)(intptr_t)buf, (int64_t)(intptr_t)count, (int64_t)(intptr_t)datatype, (int64_t)(intptr_t)dest, (int64_t)(intptr_t)tag, (int64_t)(intptr_t)comm, (int64_t)(intptr_t)request };
	sp_after(t_, 34, (int64_t)rc_, now_, params_);
	return now_;
}

void sp_leave_Isend(struct sp_thread *t_, int rc_, const void *buf, int count, intptr_t datatype, int dest, int tag, intptr_t comm, void *request)
{
	uint64_t now_ = sp_unlikely(sp_extra & SP_AFTER) ? after_Isend(t_, rc_, buf, count, datatype, dest, tag, comm, request) : sp_ticks();
	uint64_t *w_ = sp_begin_leave(t_, now_);
	unsigned flags_ = 0;
	if (sp_unlikely(rc_)) {
		flags_ = sp_has_outputs(rc_) ? SP_RC_FLAG : SP_RC_FLAG | SP_NOOUT_FLAG;
		*w_++ = (uint64_t)(int64_t)rc_;
	}
	if (!(flags_ & SP_NOOUT_FLAG)) {
		w_ = sp_put_request(w_, sp_ldh(request), request);
	}
	sp_commit(t_, w_, 34, SP_LEAVE, flags_);
}

static inline __attribute__((always_inline)) int call_Isend(const void *site_, int pmpi_, const void *buf, int count, intptr_t datatype, int dest, int tag, intptr_t comm, void *request)
{
	struct sp_thread *t_ = &sp_self;
	if (sp_unlikely(!sp_next[34]))
		sp_require(34);
	if (sp_unlikely(!(pmpi_ ? sp_open_pmpi(t_, 1, site_) : sp_open(t_, 1, site_))))
		return pmpi_ ? P_MPI_Isend(buf, count, datatype, dest, tag, comm, request) : N_MPI_Isend(buf, count, datatype, dest, tag, comm, request);
	sp_enter_Isend(t_, site_, 0, buf, count, datatype, dest, tag, comm, request);
	sp_entered(t_);
	int rc_ = pmpi_ ? P_MPI_Isend(buf, count, datatype, dest, tag, comm, request) : N_MPI_Isend(buf, count, datatype, dest, tag, comm, request);
	sp_back(t_);
	sp_leave_Isend(t_, rc_, buf, count, datatype, dest, tag, comm, request);
	return rc_;
}

SP_API int MPI_Isend(const void *buf, int count, intptr_t datatype, int dest, int tag, intptr_t comm, void *request);
SP_API int MPI_Isend(const void *buf, int count, intptr_t datatype, int dest, int tag, intptr_t comm, void *request)
{
	return call_Isend(__builtin_return_address(0), 0, buf, count, datatype, dest, tag, comm, request);
}

SP_PMPI int PMPI_Isend(const void *buf, int count, intptr_t datatype, int dest, int tag, intptr_t comm, void *request);
SP_PMPI int PMPI_Isend(const void *buf, int count, intptr_t datatype, int dest, int tag, intptr_t comm, void *request)
{
	return call_Isend(__builtin_return_address(0), 1, buf, count, datatype, dest, tag, comm, request);
}
