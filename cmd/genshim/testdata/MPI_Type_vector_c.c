
static SP_ASIDE const void *before_Type_vector_c(struct sp_thread *t_, const void *site_, int64_t count, int64_t blocklength, int64_t stride, intptr_t oldtype, void *newtype)
{
	const int64_t params_[] = { (int64_t)(intptr_t)count, (int64_t)(intptr_t)blocklength, (int64_t)(intptr_t)stride, (int64_t)(intptr_t)oldtype, (int64_t)(intptr_t)newtype };
	return sp_before(t_, site_, 96, params_);
}

void sp_enter_Type_vector_c(struct sp_thread *t_, const void *site_, unsigned flags_, int64_t count, int64_t blocklength, int64_t stride, intptr_t oldtype, void *newtype)
{
	if (sp_likely(sp_extra == SP_STACKS))
		site_ = sp_stack_site(t_, site_);
	else if (sp_unlikely(sp_extra))
		site_ = before_Type_vector_c(t_, site_, count, blocklength, stride, oldtype, newtype);
	uint64_t *w_ = sp_begin_enter(t_, site_);
	*w_++ = (uint64_t)(int64_t)count;
	*w_++ = (uint64_t)(int64_t)blocklength;
	*w_++ = (uint64_t)(int64_t)stride;
	*w_++ = sp_handle(oldtype);
	sp_commit_enter(t_, w_, 96, flags_);
}

static SP_ASIDE uint64_t after_Type_vector_c(struct sp_thread *t_, int rc_, int64_t count, int64_t blocklength, int64_t stride, intptr_t oldtype, void *newtype)
{
	uint64_t now_ = sp_ticks();
	const int64_t params_[] = { (int64_t)(intptr_t)count, (int64_t)(intptr_t)blocklength, (int64_t)(intptr_t)stride, (int64_t)(intptr_t)oldtype, (int64_t)(intptr_t)newtype };
	sp_after(t_, 96, (int64_t)rc_, now_, params_);
	return now_;
}

void sp_leave_Type_vector_c(struct sp_thread *t_, int rc_, int64_t count, int64_t blocklength, int64_t stride, intptr_t oldtype, void *newtype)
{
	uint64_t now_ = sp_unlikely(sp_extra & SP_AFTER) ? after_Type_vector_c(t_, rc_, count, blocklength, stride, oldtype, newtype) : sp_ticks();
	uint64_t aux_[5];
	int naux_ = sp_has_outputs(rc_) ? sp_type_aux(aux_, sp_ldh(newtype)) : 0;
	uint64_t *w_ = sp_begin_leave(t_, now_);
	unsigned flags_ = 0;
	if (sp_unlikely(rc_)) {
		flags_ = sp_has_outputs(rc_) ? SP_RC_FLAG : SP_RC_FLAG | SP_NOOUT_FLAG;
		*w_++ = (uint64_t)(int64_t)rc_;
	}
	if (!(flags_ & SP_NOOUT_FLAG)) {
		*w_++ = sp_ldh(newtype);
		for (int i_ = 0; i_ < naux_; i_++)
			*w_++ = aux_[i_];
	}
	sp_commit(t_, w_, 96, SP_LEAVE, flags_);
}

static inline __attribute__((always_inline)) int call_Type_vector_c(const void *site_, int pmpi_, int64_t count, int64_t blocklength, int64_t stride, intptr_t oldtype, void *newtype)
{
	struct sp_thread *t_ = &sp_self;
	if (sp_unlikely(!sp_next[96]))
		sp_require(96);
	if (sp_unlikely(!(pmpi_ ? sp_open_pmpi(t_, 1, site_) : sp_open(t_, 1, site_))))
		return pmpi_ ? P_MPI_Type_vector_c(count, blocklength, stride, oldtype, newtype) : N_MPI_Type_vector_c(count, blocklength, stride, oldtype, newtype);
	sp_enter_Type_vector_c(t_, site_, 0, count, blocklength, stride, oldtype, newtype);
	sp_entered(t_);
	int rc_ = pmpi_ ? P_MPI_Type_vector_c(count, blocklength, stride, oldtype, newtype) : N_MPI_Type_vector_c(count, blocklength, stride, oldtype, newtype);
	sp_back(t_);
	sp_leave_Type_vector_c(t_, rc_, count, blocklength, stride, oldtype, newtype);
	return rc_;
}

SP_API int MPI_Type_vector_c(int64_t count, int64_t blocklength, int64_t stride, intptr_t oldtype, void *newtype);
SP_API int MPI_Type_vector_c(int64_t count, int64_t blocklength, int64_t stride, intptr_t oldtype, void *newtype)
{
	return call_Type_vector_c(__builtin_return_address(0), 0, count, blocklength, stride, oldtype, newtype);
}

SP_PMPI int PMPI_Type_vector_c(int64_t count, int64_t blocklength, int64_t stride, intptr_t oldtype, void *newtype);
SP_PMPI int PMPI_Type_vector_c(int64_t count, int64_t blocklength, int64_t stride, intptr_t oldtype, void *newtype)
{
	return call_Type_vector_c(__builtin_return_address(0), 1, count, blocklength, stride, oldtype, newtype);
}
