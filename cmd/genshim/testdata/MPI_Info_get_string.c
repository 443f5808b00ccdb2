
static SP_ASIDE const void *before_Info_get_string(struct sp_thread *t_, const void *site_, intptr_t info, const char *key, int *buflen, char *value, int *flag)
{
	const int64_t params_[] = { (int64_t)(intptr_t)info, (int64_t)(intptr_t)key, (int64_t)(intptr_t)buflen, (int64_t)(intptr_t)value, (int64_t)(intptr_t)flag };
	return sp_before(t_, site_, 406, params_);
}

void sp_enter_Info_get_string(struct sp_thread *t_, const void *site_, unsigned flags_, intptr_t info, const char *key, int *buflen, char *value, int *flag)
{
	if (sp_likely(sp_extra == SP_STACKS))
		site_ = sp_stack_site(t_, site_);
	else if (sp_unlikely(sp_extra))
		site_ = before_Info_get_string(t_, site_, info, key, buflen, value, flag);
	int64_t n_key = INT64_MAX;
	uint64_t *w_ = sp_begin_enter(t_, site_);
	*w_++ = sp_handle(info);
	w_ = sp_put_string(t_, w_, key, n_key);
	*w_++ = sp_ld32(buflen);
	sp_commit_enter(t_, w_, 406, flags_);
}

static SP_ASIDE uint64_t after_Info_get_string(struct sp_thread *t_, int rc_, intptr_t info, const char *key, int *buflen, char *value, int *flag)
{
	uint64_t now_ = sp_ticks();
	const int64_t params_[] = { (int64_t)(intptr_t)info, (int64_t)(intptr_t)key, (int64_t)(intptr_t)buflen, (int64_t)(intptr_t)value, (int64_t)(intptr_t)flag };
	sp_after(t_, 406, (int64_t)rc_, now_, params_);
	return now_;
}

void sp_leave_Info_get_string(struct sp_thread *t_, int rc_, intptr_t info, const char *key, int *buflen, char *value, int *flag, int64_t had_buflen)
{
	uint64_t now_ = sp_unlikely(sp_extra & SP_AFTER) ? after_Info_get_string(t_, rc_, info, key, buflen, value, flag) : sp_ticks();
	int64_t n_value = !sp_ld32(flag) ? SP_LEN_ABSENT : sp_at_least_0(sp_smaller(had_buflen, (int64_t)sp_ld32(buflen)));
	uint64_t *w_ = sp_begin_leave(t_, now_);
	unsigned flags_ = 0;
	if (sp_unlikely(rc_)) {
		flags_ = sp_has_outputs(rc_) ? SP_RC_FLAG : SP_RC_FLAG | SP_NOOUT_FLAG;
		*w_++ = (uint64_t)(int64_t)rc_;
	}
	if (!(flags_ & SP_NOOUT_FLAG)) {
		*w_++ = sp_ld32(buflen);
		w_ = sp_put_string(t_, w_, value, n_value);
		*w_++ = sp_ld32(flag);
	}
	sp_commit(t_, w_, 406, SP_LEAVE, flags_);
}

static inline __attribute__((always_inline)) int call_Info_get_string(const void *site_, int pmpi_, intptr_t info, const char *key, int *buflen, char *value, int *flag)
{
	struct sp_thread *t_ = &sp_self;
	if (sp_unlikely(!sp_next[406]))
		sp_require(406);
	if (sp_unlikely(!(pmpi_ ? sp_open_pmpi(t_, 0, site_) : sp_open(t_, 0, site_))))
		return pmpi_ ? P_MPI_Info_get_string(info, key, buflen, value, flag) : N_MPI_Info_get_string(info, key, buflen, value, flag);
	int64_t had_buflen = (int64_t)sp_ld32(buflen);
	sp_enter_Info_get_string(t_, site_, 0, info, key, buflen, value, flag);
	sp_entered(t_);
	int rc_ = pmpi_ ? P_MPI_Info_get_string(info, key, buflen, value, flag) : N_MPI_Info_get_string(info, key, buflen, value, flag);
	sp_back(t_);
	sp_leave_Info_get_string(t_, rc_, info, key, buflen, value, flag, had_buflen);
	return rc_;
}

SP_API int MPI_Info_get_string(intptr_t info, const char *key, int *buflen, char *value, int *flag);
SP_API int MPI_Info_get_string(intptr_t info, const char *key, int *buflen, char *value, int *flag)
{
	return call_Info_get_string(__builtin_return_address(0), 0, info, key, buflen, value, flag);
}

SP_PMPI int PMPI_Info_get_string(intptr_t info, const char *key, int *buflen, char *value, int *flag);
SP_PMPI int PMPI_Info_get_string(intptr_t info, const char *key, int *buflen, char *value, int *flag)
{
	return call_Info_get_string(__builtin_return_address(0), 1, info, key, buflen, value, flag);
}
