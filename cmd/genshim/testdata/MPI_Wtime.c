
static SP_ASIDE const void *before_Wtime(struct sp_thread *t_, const void *site_)
{
	const int64_t params_[] = { 0 };
	return sp_before(t_, site_, 401, params_);
}

void sp_enter_Wtime(struct sp_thread *t_, const void *site_, unsigned flags_)
{
	if (sp_likely(sp_extra == SP_STACKS))
		site_ = sp_stack_site(t_, site_);
	else if (sp_unlikely(sp_extra))
		site_ = before_Wtime(t_, site_);
	uint64_t *w_ = sp_begin_enter(t_, site_);
	sp_commit_enter(t_, w_, 401, flags_);
}

static SP_ASIDE uint64_t after_Wtime(struct sp_thread *t_, double rc_)
{
	uint64_t now_ = sp_ticks();
	const int64_t params_[] = { 0 };
	sp_after(t_, 401, (int64_t)rc_, now_, params_);
	return now_;
}

void sp_leave_Wtime(struct sp_thread *t_, double rc_)
{
	uint64_t now_ = sp_unlikely(sp_extra & SP_AFTER) ? after_Wtime(t_, rc_) : sp_ticks();
	uint64_t *w_ = sp_begin_leave(t_, now_);
	*w_++ = sp_ld64(&rc_);
	sp_commit(t_, w_, 401, SP_LEAVE, 0);
}

static inline __attribute__((always_inline)) double call_Wtime(const void *site_, int pmpi_)
{
	struct sp_thread *t_ = &sp_self;
	if (sp_unlikely(!sp_next[401]))
		sp_require(401);
	if (sp_unlikely(!(pmpi_ ? sp_open_pmpi(t_, 0, site_) : sp_open(t_, 0, site_))))
		return pmpi_ ? P_MPI_Wtime() : N_MPI_Wtime();
	sp_enter_Wtime(t_, site_, 0);
	sp_entered(t_);
	double rc_ = pmpi_ ? P_MPI_Wtime() : N_MPI_Wtime();
	sp_back(t_);
	sp_leave_Wtime(t_, rc_);
	return rc_;
}

SP_API double MPI_Wtime(void);
SP_API double MPI_Wtime(void)
{
	return call_Wtime(__builtin_return_address(0), 0);
}

SP_PMPI double PMPI_Wtime(void);
SP_PMPI double PMPI_Wtime(void)
{
	return call_Wtime(__builtin_return_address(0), 1);
}
