
void sp_enter_Init(struct sp_thread *t_, const void *site_, unsigned flags_, int *argc, char ***argv)
{
	uint64_t *w_ = sp_begin_enter(t_, site_);
	sp_commit_enter(t_, w_, 412, flags_);
}

void sp_leave_Init(struct sp_thread *t_, int rc_, int *argc, char ***argv)
{
	uint64_t now_ = sp_ticks();
	uint64_t *w_ = sp_begin_leave(t_, now_);
	unsigned flags_ = 0;
	if (sp_unlikely(rc_)) {
		flags_ = sp_has_outputs(rc_) ? SP_RC_FLAG : SP_RC_FLAG | SP_NOOUT_FLAG;
		*w_++ = (uint64_t)(int64_t)rc_;
	}
	sp_commit(t_, w_, 412, SP_LEAVE, flags_);
}
