
static SP_ASIDE const void *before_File_open(struct sp_thread *t_, const void *site_, intptr_t comm, const char *filename, int amode, intptr_t info, void *fh)
{
	const int64_t params_[] = { (int64_t)(intptr_t)comm, (int64_t)(intptr_t)filename, (int64_t)(intptr_t)amode, (int64_t)(intptr_t)info, (int64_t)(intptr_t)fh };
	return sp_before(t_, site_, 495, params_);
}

void sp_enter_File_open(struct sp_thread *t_, const void *site_, unsigned flags_, intptr_t comm, const char *filename, int amode, intptr_t info, void *fh)
{
	if (sp_likely(sp_extra == SP_STACKS))
		site_ = sp_stack_site(t_, site_);
	else if (sp_unlikely(sp_extra))
		site_ = before_File_open(t_, site_, comm, filename, amode, info, fh);
	int64_t n_filename = INT64_MAX;
	uint64_t *w_ = sp_begin_enter(t_, site_);
	*w_++ = sp_handle(comm);
	w_ = sp_put_string(t_, w_, filename, n_filename);
	*w_++ = (uint64_t)(int64_t)amode;
	*w_++ = sp_handle(info);
	sp_commit_enter(t_, w_, 495, flags_);
}

static SP_ASIDE uint64_t after_File_open(struct sp_thread *t_, int rc_, intptr_t comm, const char *filename, int amode, intptr_t info, void *fh)
{
	uint64_t now_ = sp_ticks();
	const int64_t params_[] = { (int64_t)(intptr_t)comm, (int64_t)(intptr_t)filename, (int64_t)(intptr_t)amode, (int64_t)(intptr_t)info, (int64_t)(intptr_t)fh };
	sp_after(t_, 495, (int64_t)rc_, now_, params_);
	return now_;
}

void sp_leave_File_open(struct sp_thread *t_, int rc_, intptr_t comm, const char *filename, int amode, intptr_t info, void *fh)
{
	uint64_t now_ = sp_unlikely(sp_extra & SP_AFTER) ? after_File_open(t_, rc_, comm, filename, amode, info, fh) : sp_ticks();
	uint64_t *w_ = sp_begin_leave(t_, now_);
	unsigned flags_ = 0;
	if (sp_unlikely(rc_)) {
		flags_ = sp_has_outputs(rc_) ? SP_RC_FLAG : SP_RC_FLAG | SP_NOOUT_FLAG;
		*w_++ = (uint64_t)(int64_t)rc_;
	}
	if (!(flags_ & SP_NOOUT_FLAG)) {
		*w_++ = sp_ld64(fh);
	}
	sp_commit(t_, w_, 495, SP_LEAVE, flags_);
}

static inline __attribute__((always_inline)) int call_File_open(const void *site_, int pmpi_, intptr_t comm, const char *filename, int amode, intptr_t info, void *fh)
{
	struct sp_thread *t_ = &sp_self;
	if (sp_unlikely(!sp_next[495]))
		sp_require(495);
	if (sp_unlikely(!(pmpi_ ? sp_open_pmpi(t_, 1, site_) : sp_open(t_, 1, site_))))
		return pmpi_ ? P_MPI_File_open(comm, filename, amode, info, fh) : N_MPI_File_open(comm, filename, amode, info, fh);
	sp_enter_File_open(t_, site_, 0, comm, filename, amode, info, fh);
	sp_entered(t_);
	int rc_ = pmpi_ ? P_MPI_File_open(comm, filename, amode, info, fh) : N_MPI_File_open(comm, filename, amode, info, fh);
	sp_back(t_);
	sp_leave_File_open(t_, rc_, comm, filename, amode, info, fh);
	return rc_;
}

SP_API int MPI_File_open(intptr_t comm, const char *filename, int amode, intptr_t info, void *fh);
SP_API int MPI_File_open(intptr_t comm, const char *filename, int amode, intptr_t info, void *fh)
{
	return call_File_open(__builtin_return_address(0), 0, comm, filename, amode, info, fh);
}

SP_PMPI int PMPI_File_open(intptr_t comm, const char *filename, int amode, intptr_t info, void *fh);
SP_PMPI int PMPI_File_open(intptr_t comm, const char *filename, int amode, intptr_t info, void *fh)
{
	return call_File_open(__builtin_return_address(0), 1, comm, filename, amode, info, fh);
}
