
void sp_enter_Wtime(struct sp_thread *t_, const void *site_, unsigned flags_)
{
	uint64_t *w_ = sp_begin_enter(t_, site_);
	sp_commit_enter(t_, w_, 401, flags_);
}

void sp_leave_Wtime(struct sp_thread *t_, double rc_)
{
	uint64_t now_ = sp_ticks();
	uint64_t *w_ = sp_begin_leave(t_, now_);
	*w_++ = sp_ld64(&rc_);
	sp_commit(t_, w_, 401, SP_LEAVE, 0);
}

SP_API double MPI_Wtime(void);
SP_API double MPI_Wtime(void)
{
	const void *site_ = __builtin_return_address(0);
	struct sp_thread *t_ = &sp_self;
	if (sp_unlikely(!sp_real[401]))
		sp_require(401);
	if (sp_unlikely(!sp_open(t_, 0, site_)))
		return P_MPI_Wtime();
	sp_enter_Wtime(t_, site_, 0);
	t_->depth++;
	double rc_ = P_MPI_Wtime();
	t_->depth--;
	sp_leave_Wtime(t_, rc_);
	return rc_;
}
