
static SP_ASIDE const void *before_Recv(struct sp_thread *t_, const void *site_, void *buf, int count, intptr_t datatype, int source, int tag, intptr_t comm, void *status)
{
	const int64_t params_[] = { (int64_t)(intptr_t)buf, (int64_t)(intptr_t)count, (int64_t)(intptr_t)datatype, (int64_t)(intptr_t)source, (int64_t)(intptr_t)tag, (int64_t)(intptr_t)comm, (int64_t)(intptr_t)status };
	return sp_before(t_, site_, 3, params_);
}

void sp_enter_Recv(struct sp_thread *t_, const void *site_, unsigned flags_, void *buf, int count, intptr_t datatype, int source, int tag, intptr_t comm, void *status)
{
	if (sp_likely(sp_extra == SP_STACKS))
		site_ = sp_stack_site(t_, site_);
	else if (sp_unlikely(sp_extra))
		site_ = before_Recv(t_, site_, buf, count, datatype, source, tag, comm, status);
	uint64_t *w_ = sp_begin_enter(t_, site_);
	w_ = sp_put_address(w_, (const void *)buf);
	*w_++ = (uint64_t)(int64_t)count;
	*w_++ = sp_handle(datatype);
	*w_++ = (uint64_t)(int64_t)source;
	*w_++ = (uint64_t)(int64_t)tag;
	*w_++ = sp_handle(comm);
	sp_commit_enter(t_, w_, 3, flags_);
}

static SP_ASIDE uint64_t after_Recv(struct sp_thread *t_, int rc_, void *buf, int count, intptr_t datatype, int source, int tag, intptr_t comm, void *status)
{
	uint64_t now_ = sp_ticks();
	const int64_t params_[] = { (int64_t)(intptr_t)buf, (int64_t)(intptr_t)count, (int64_t)(intptr_t)datatype, (int64_t)(intptr_t)source, (int64_t)(intptr_t)tag, (int64_t)(intptr_t)comm, (int64_t)(intptr_t)status };
	sp_after(t_, 3, (int64_t)rc_, now_, params_);
	return now_;
}

void sp_leave_Recv(struct sp_thread *t_, int rc_, void *buf, int count, intptr_t datatype, int source, int tag, intptr_t comm, void *status, int ignored_)
{
	uint64_t now_ = sp_unlikely(sp_extra & SP_AFTER) ? after_Recv(t_, rc_, buf, count, datatype, source, tag, comm, status) : sp_ticks();
	uint64_t *w_ = sp_begin_leave(t_, now_);
	unsigned flags_ = 0;
	if (sp_unlikely(rc_)) {
		flags_ = sp_has_outputs(rc_) ? SP_RC_FLAG : SP_RC_FLAG | SP_NOOUT_FLAG;
		*w_++ = (uint64_t)(int64_t)rc_;
	}
	if (!(flags_ & SP_NOOUT_FLAG)) {
		w_ = sp_put_status(w_, status, ignored_ ? SP_STATUS_IGNORED : SP_STATUS_FILLED);
	}
	sp_commit(t_, w_, 3, SP_LEAVE, flags_);
}

static inline __attribute__((always_inline)) int call_Recv(const void *site_, int pmpi_, void *buf, int count, intptr_t datatype, int source, int tag, intptr_t comm, void *status)
{
	struct sp_thread *t_ = &sp_self;
	if (sp_unlikely(!sp_next[3]))
		sp_require(3);
	if (sp_unlikely(!(pmpi_ ? sp_open_pmpi(t_, 0, site_) : sp_open(t_, 0, site_))))
		return pmpi_ ? P_MPI_Recv(buf, count, datatype, source, tag, comm, status) : N_MPI_Recv(buf, count, datatype, source, tag, comm, status);
	struct sp_own_status own_ = { {0} };
	int ignored_ = status == sp_fl.status_ignore;
	if (ignored_)
		status = &own_;
	sp_enter_Recv(t_, site_, 0, buf, count, datatype, source, tag, comm, status);
	sp_entered(t_);
	int rc_ = pmpi_ ? P_MPI_Recv(buf, count, datatype, source, tag, comm, status) : N_MPI_Recv(buf, count, datatype, source, tag, comm, status);
	sp_back(t_);
	sp_leave_Recv(t_, rc_, buf, count, datatype, source, tag, comm, status, ignored_);
	return rc_;
}

SP_API int MPI_Recv(void *buf, int count, intptr_t datatype, int source, int tag, intptr_t comm, void *status);
SP_API int MPI_Recv(void *buf, int count, intptr_t datatype, int source, int tag, intptr_t comm, void *status)
{
	return call_Recv(__builtin_return_address(0), 0, buf, count, datatype, source, tag, comm, status);
}

SP_PMPI int PMPI_Recv(void *buf, int count, intptr_t datatype, int source, int tag, intptr_t comm, void *status);
SP_PMPI int PMPI_Recv(void *buf, int count, intptr_t datatype, int source, int tag, intptr_t comm, void *status)
{
	return call_Recv(__builtin_return_address(0), 1, buf, count, datatype, source, tag, comm, status);
}
