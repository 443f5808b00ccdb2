
static SP_ASIDE const void *before_Win_allocate(struct sp_thread *t_, const void *site_, int64_t size, int disp_unit, intptr_t info, intptr_t comm, void *baseptr, void *win)
{
	const int64_t params_[] = { (int64_t)(intptr_t)size, (int64_t)(intptr_t)disp_unit, (int64_t)(intptr_t)info, (int64_t)(intptr_t)comm, (int64_t)(intptr_t)baseptr, (int64_t)(intptr_t)win };
	return sp_before(t_, site_, 440, params_);
}

void sp_enter_Win_allocate(struct sp_thread *t_, const void *site_, unsigned flags_, int64_t size, int disp_unit, intptr_t info, intptr_t comm, void *baseptr, void *win)
{
	if (sp_likely(sp_extra == SP_STACKS))
		site_ = sp_stack_site(t_, site_);
	else if (sp_unlikely(sp_extra))
		site_ = before_Win_allocate(t_, site_, size, disp_unit, info, comm, baseptr, win);
	uint64_t *w_ = sp_begin_enter(t_, site_);
	*w_++ = (uint64_t)(int64_t)size;
	*w_++ = (uint64_t)(int64_t)disp_unit;
	*w_++ = sp_handle(info);
	*w_++ = sp_handle(comm);
	sp_commit_enter(t_, w_, 440, flags_);
}

static SP_ASIDE uint64_t after_Win_allocate(struct sp_thread *t_, int rc_, int64_t size, int disp_unit, intptr_t info, intptr_t comm, void *baseptr, void *win)
{
	uint64_t now_ = sp_ticks();
	const int64_t params_[] = { (int64_t)(intptr_t)size, (int64_t)(intptr_t)disp_unit, (int64_t)(intptr_t)info, (int64_t)(intptr_t)comm, (int64_t)(intptr_t)baseptr, (int64_t)(intptr_t)win };
	sp_after(t_, 440, (int64_t)rc_, now_, params_);
	return now_;
}

void sp_leave_Win_allocate(struct sp_thread *t_, int rc_, int64_t size, int disp_unit, intptr_t info, intptr_t comm, void *baseptr, void *win)
{
	uint64_t now_ = sp_unlikely(sp_extra & SP_AFTER) ? after_Win_allocate(t_, rc_, size, disp_unit, info, comm, baseptr, win) : sp_ticks();
	if (rc_ == 0)
		sp_memory_window(sp_ldh(win), *(void **)baseptr, size);
	uint64_t *w_ = sp_begin_leave(t_, now_);
	unsigned flags_ = 0;
	if (sp_unlikely(rc_)) {
		flags_ = sp_has_outputs(rc_) ? SP_RC_FLAG : SP_RC_FLAG | SP_NOOUT_FLAG;
		*w_++ = (uint64_t)(int64_t)rc_;
	}
	if (!(flags_ & SP_NOOUT_FLAG)) {
		w_ = sp_put_address_at(w_, baseptr);
		*w_++ = sp_ldh(win);
	}
	sp_commit(t_, w_, 440, SP_LEAVE, flags_);
}

static inline __attribute__((always_inline)) int call_Win_allocate(const void *site_, int pmpi_, int64_t size, int disp_unit, intptr_t info, intptr_t comm, void *baseptr, void *win)
{
	struct sp_thread *t_ = &sp_self;
	if (sp_unlikely(!sp_next[440]))
		sp_require(440);
	if (sp_unlikely(!(pmpi_ ? sp_open_pmpi(t_, 1, site_) : sp_open(t_, 1, site_))))
		return pmpi_ ? P_MPI_Win_allocate(size, disp_unit, info, comm, baseptr, win) : N_MPI_Win_allocate(size, disp_unit, info, comm, baseptr, win);
	sp_enter_Win_allocate(t_, site_, 0, size, disp_unit, info, comm, baseptr, win);
	sp_entered(t_);
	int rc_ = pmpi_ ? P_MPI_Win_allocate(size, disp_unit, info, comm, baseptr, win) : N_MPI_Win_allocate(size, disp_unit, info, comm, baseptr, win);
	sp_back(t_);
	sp_leave_Win_allocate(t_, rc_, size, disp_unit, info, comm, baseptr, win);
	return rc_;
}

SP_API int MPI_Win_allocate(int64_t size, int disp_unit, intptr_t info, intptr_t comm, void *baseptr, void *win);
SP_API int MPI_Win_allocate(int64_t size, int disp_unit, intptr_t info, intptr_t comm, void *baseptr, void *win)
{
	return call_Win_allocate(__builtin_return_address(0), 0, size, disp_unit, info, comm, baseptr, win);
}

SP_PMPI int PMPI_Win_allocate(int64_t size, int disp_unit, intptr_t info, intptr_t comm, void *baseptr, void *win);
SP_PMPI int PMPI_Win_allocate(int64_t size, int disp_unit, intptr_t info, intptr_t comm, void *baseptr, void *win)
{
	return call_Win_allocate(__builtin_return_address(0), 1, size, disp_unit, info, comm, baseptr, win);
}
