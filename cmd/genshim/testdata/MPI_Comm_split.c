
static SP_ASIDE const void *before_Comm_split(struct sp_thread *t_, const void *site_, intptr_t comm, int color, int key, void *newcomm)
{
	const int64_t params_[] = { (int64_t)(intptr_t)comm, (int64_t)(intptr_t)color, (int64_t)(intptr_t)key, (int64_t)(intptr_t)newcomm };
	return sp_before(t_, site_, 278, params_);
}

void sp_enter_Comm_split(struct sp_thread *t_, const void *site_, unsigned flags_, intptr_t comm, int color, int key, void *newcomm)
{
	if (sp_likely(sp_extra == SP_STACKS))
		site_ = sp_stack_site(t_, site_);
	else if (sp_unlikely(sp_extra))
		site_ = before_Comm_split(t_, site_, comm, color, key, newcomm);
	uint64_t *w_ = sp_begin_enter(t_, site_);
	*w_++ = sp_handle(comm);
	*w_++ = (uint64_t)(int64_t)color;
	*w_++ = (uint64_t)(int64_t)key;
	sp_commit_enter(t_, w_, 278, flags_);
}

static SP_ASIDE uint64_t after_Comm_split(struct sp_thread *t_, int rc_, intptr_t comm, int color, int key, void *newcomm)
{
	uint64_t now_ = sp_ticks();
	const int64_t params_[] = { (int64_t)(intptr_t)comm, (int64_t)(intptr_t)color, (int64_t)(intptr_t)key, (int64_t)(intptr_t)newcomm };
	sp_after(t_, 278, (int64_t)rc_, now_, params_);
	return now_;
}

void sp_leave_Comm_split(struct sp_thread *t_, int rc_, intptr_t comm, int color, int key, void *newcomm)
{
	uint64_t now_ = sp_unlikely(sp_extra & SP_AFTER) ? after_Comm_split(t_, rc_, comm, color, key, newcomm) : sp_ticks();
	uint64_t aux_[6];
	int naux_ = sp_has_outputs(rc_) ? sp_comm_aux(aux_, sp_ldh(newcomm), 0) : 0;
	uint64_t *w_ = sp_begin_leave(t_, now_);
	unsigned flags_ = 0;
	if (sp_unlikely(rc_)) {
		flags_ = sp_has_outputs(rc_) ? SP_RC_FLAG : SP_RC_FLAG | SP_NOOUT_FLAG;
		*w_++ = (uint64_t)(int64_t)rc_;
	}
	if (!(flags_ & SP_NOOUT_FLAG)) {
		*w_++ = sp_ldh(newcomm);
		for (int i_ = 0; i_ < naux_; i_++)
			*w_++ = aux_[i_];
	}
	sp_commit(t_, w_, 278, SP_LEAVE, flags_);
}

static inline __attribute__((always_inline)) int call_Comm_split(const void *site_, int pmpi_, intptr_t comm, int color, int key, void *newcomm)
{
	struct sp_thread *t_ = &sp_self;
	if (sp_unlikely(!sp_next[278]))
		sp_require(278);
	if (sp_unlikely(!(pmpi_ ? sp_open_pmpi(t_, 1, site_) : sp_open(t_, 1, site_))))
		return pmpi_ ? P_MPI_Comm_split(comm, color, key, newcomm) : N_MPI_Comm_split(comm, color, key, newcomm);
	sp_enter_Comm_split(t_, site_, 0, comm, color, key, newcomm);
	sp_entered(t_);
	int rc_ = pmpi_ ? P_MPI_Comm_split(comm, color, key, newcomm) : N_MPI_Comm_split(comm, color, key, newcomm);
	sp_back(t_);
	sp_leave_Comm_split(t_, rc_, comm, color, key, newcomm);
	return rc_;
}

SP_API int MPI_Comm_split(intptr_t comm, int color, int key, void *newcomm);
SP_API int MPI_Comm_split(intptr_t comm, int color, int key, void *newcomm)
{
	return call_Comm_split(__builtin_return_address(0), 0, comm, color, key, newcomm);
}

SP_PMPI int PMPI_Comm_split(intptr_t comm, int color, int key, void *newcomm);
SP_PMPI int PMPI_Comm_split(intptr_t comm, int color, int key, void *newcomm)
{
	return call_Comm_split(__builtin_return_address(0), 1, comm, color, key, newcomm);
}
