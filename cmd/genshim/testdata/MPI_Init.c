
static SP_ASIDE const void *before_Init(struct sp_thread *t_, const void *site_, int *argc, char ***argv)
{
	const int64_t params_[] = { (int64_t)(intptr_t)argc, (int64_t)(intptr_t)argv };
	return sp_before(t_, site_, 412, params_);
}

void sp_enter_Init(struct sp_thread *t_, const void *site_, unsigned flags_, int *argc, char ***argv)
{
	if (sp_likely(sp_extra == SP_STACKS))
		site_ = sp_stack_site(t_, site_);
	else if (sp_unlikely(sp_extra))
		site_ = before_Init(t_, site_, argc, argv);
	uint64_t *w_ = sp_begin_enter(t_, site_);
	sp_commit_enter(t_, w_, 412, flags_);
}

static SP_ASIDE uint64_t after_Init(struct sp_thread *t_, int rc_, int *argc, char ***argv)
{
	uint64_t now_ = sp_ticks();
	const int64_t params_[] = { (int64_t)(intptr_t)argc, (int64_t)(intptr_t)argv };
	sp_after(t_, 412, (int64_t)rc_, now_, params_);
	return now_;
}

void sp_leave_Init(struct sp_thread *t_, int rc_, int *argc, char ***argv)
{
	uint64_t now_ = sp_unlikely(sp_extra & SP_AFTER) ? after_Init(t_, rc_, argc, argv) : sp_ticks();
	uint64_t *w_ = sp_begin_leave(t_, now_);
	unsigned flags_ = 0;
	if (sp_unlikely(rc_)) {
		flags_ = sp_has_outputs(rc_) ? SP_RC_FLAG : SP_RC_FLAG | SP_NOOUT_FLAG;
		*w_++ = (uint64_t)(int64_t)rc_;
	}
	sp_commit(t_, w_, 412, SP_LEAVE, flags_);
}
