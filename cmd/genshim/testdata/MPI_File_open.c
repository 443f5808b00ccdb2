
void sp_enter_File_open(struct sp_thread *t_, const void *site_, unsigned flags_, intptr_t comm, const char *filename, int amode, intptr_t info, void *fh)
{
	int64_t n_filename = INT64_MAX;
	uint64_t *w_ = sp_begin_enter(t_, site_);
	*w_++ = sp_handle(comm);
	w_ = sp_put_string(t_, w_, filename, n_filename);
	*w_++ = (uint64_t)(int64_t)amode;
	*w_++ = sp_handle(info);
	sp_commit_enter(t_, w_, 495, flags_);
}

void sp_leave_File_open(struct sp_thread *t_, int rc_, intptr_t comm, const char *filename, int amode, intptr_t info, void *fh)
{
	uint64_t now_ = sp_ticks();
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

SP_API int MPI_File_open(intptr_t comm, const char *filename, int amode, intptr_t info, void *fh);
SP_API int MPI_File_open(intptr_t comm, const char *filename, int amode, intptr_t info, void *fh)
{
	const void *site_ = __builtin_return_address(0);
	struct sp_thread *t_ = &sp_self;
	if (sp_unlikely(!sp_real[495]))
		sp_require(495);
	if (sp_unlikely(!sp_open(t_, 1, site_)))
		return P_MPI_File_open(comm, filename, amode, info, fh);
	sp_enter_File_open(t_, site_, 0, comm, filename, amode, info, fh);
	t_->depth++;
	int rc_ = P_MPI_File_open(comm, filename, amode, info, fh);
	t_->depth--;
	sp_leave_File_open(t_, rc_, comm, filename, amode, info, fh);
	return rc_;
}
