
static SP_ASIDE const void *before_Comm_spawn(struct sp_thread *t_, const void *site_, const char *command, char **argv, int maxprocs, intptr_t info, int root, intptr_t comm, void *intercomm, int *array_of_errcodes)
{
	const int64_t params_[] = { (int64_t)(intptr_t)command, (int64_t)(intptr_t)argv, (int64_t)(intptr_t)maxprocs, (int64_t)(intptr_t)info, (int64_t)(intptr_t)root, (int64_t)(intptr_t)comm, (int64_t)(intptr_t)intercomm, (int64_t)(intptr_t)array_of_errcodes };
	return sp_before(t_, site_, 426, params_);
}

void sp_enter_Comm_spawn(struct sp_thread *t_, const void *site_, unsigned flags_, const char *command, char **argv, int maxprocs, intptr_t info, int root, intptr_t comm, void *intercomm, int *array_of_errcodes)
{
	if (sp_likely(sp_extra == SP_STACKS))
		site_ = sp_stack_site(t_, site_);
	else if (sp_unlikely(sp_extra))
		site_ = before_Comm_spawn(t_, site_, command, argv, maxprocs, info, root, comm, intercomm, array_of_errcodes);
	int64_t n_command = !sp_at_root(root, comm) ? SP_LEN_ABSENT : INT64_MAX;
	int64_t n_argv = !sp_at_root(root, comm) ? SP_LEN_ABSENT : SP_TO_NULL;
	uint64_t *w_ = sp_begin_enter(t_, site_);
	w_ = sp_put_string(t_, w_, command, n_command);
	w_ = sp_put_strings(t_, w_, argv, n_argv);
	*w_++ = (uint64_t)(int64_t)maxprocs;
	*w_++ = sp_handle(info);
	*w_++ = (uint64_t)(int64_t)root;
	*w_++ = sp_handle(comm);
	sp_commit_enter(t_, w_, 426, flags_);
}

static SP_ASIDE uint64_t after_Comm_spawn(struct sp_thread *t_, int rc_, const char *command, char **argv, int maxprocs, intptr_t info, int root, intptr_t comm, void *intercomm, int *array_of_errcodes)
{
	uint64_t now_ = sp_ticks();
	const int64_t params_[] = { (int64_t)(intptr_t)command, (int64_t)(intptr_t)argv, (int64_t)(intptr_t)maxprocs, (int64_t)(intptr_t)info, (int64_t)(intptr_t)root, (int64_t)(intptr_t)comm, (int64_t)(intptr_t)intercomm, (int64_t)(intptr_t)array_of_errcodes };
	sp_after(t_, 426, (int64_t)rc_, now_, params_);
	return now_;
}

void sp_leave_Comm_spawn(struct sp_thread *t_, int rc_, const char *command, char **argv, int maxprocs, intptr_t info, int root, intptr_t comm, void *intercomm, int *array_of_errcodes)
{
	uint64_t now_ = sp_unlikely(sp_extra & SP_AFTER) ? after_Comm_spawn(t_, rc_, command, argv, maxprocs, info, root, comm, intercomm, array_of_errcodes) : sp_ticks();
	int64_t n_array_of_errcodes = !sp_at_root(root, comm) ? SP_LEN_ABSENT : sp_at_least_0((int64_t)maxprocs);
	uint64_t aux_[6];
	int naux_ = sp_has_outputs(rc_) ? sp_comm_aux(aux_, sp_ldh(intercomm), 0) : 0;
	uint64_t *w_ = sp_begin_leave(t_, now_);
	unsigned flags_ = 0;
	if (sp_unlikely(rc_)) {
		flags_ = sp_has_outputs(rc_) ? SP_RC_FLAG : SP_RC_FLAG | SP_NOOUT_FLAG;
		*w_++ = (uint64_t)(int64_t)rc_;
	}
	if (!(flags_ & SP_NOOUT_FLAG)) {
		*w_++ = sp_ldh(intercomm);
		w_ = sp_put_32s(t_, w_, array_of_errcodes, n_array_of_errcodes);
		for (int i_ = 0; i_ < naux_; i_++)
			*w_++ = aux_[i_];
	}
	sp_commit(t_, w_, 426, SP_LEAVE, flags_);
}

static inline __attribute__((always_inline)) int call_Comm_spawn(const void *site_, int pmpi_, const char *command, char **argv, int maxprocs, intptr_t info, int root, intptr_t comm, void *intercomm, int *array_of_errcodes)
{
	struct sp_thread *t_ = &sp_self;
	if (sp_unlikely(!sp_next[426]))
		sp_require(426);
	if (sp_unlikely(!(pmpi_ ? sp_open_pmpi(t_, 1, site_) : sp_open(t_, 1, site_))))
		return pmpi_ ? P_MPI_Comm_spawn(command, argv, maxprocs, info, root, comm, intercomm, array_of_errcodes) : N_MPI_Comm_spawn(command, argv, maxprocs, info, root, comm, intercomm, array_of_errcodes);
	sp_enter_Comm_spawn(t_, site_, 0, command, argv, maxprocs, info, root, comm, intercomm, array_of_errcodes);
	sp_entered(t_);
	int rc_ = pmpi_ ? P_MPI_Comm_spawn(command, argv, maxprocs, info, root, comm, intercomm, array_of_errcodes) : N_MPI_Comm_spawn(command, argv, maxprocs, info, root, comm, intercomm, array_of_errcodes);
	sp_back(t_);
	sp_leave_Comm_spawn(t_, rc_, command, argv, maxprocs, info, root, comm, intercomm, array_of_errcodes);
	return rc_;
}

SP_API int MPI_Comm_spawn(const char *command, char **argv, int maxprocs, intptr_t info, int root, intptr_t comm, void *intercomm, int *array_of_errcodes);
SP_API int MPI_Comm_spawn(const char *command, char **argv, int maxprocs, intptr_t info, int root, intptr_t comm, void *intercomm, int *array_of_errcodes)
{
	return call_Comm_spawn(__builtin_return_address(0), 0, command, argv, maxprocs, info, root, comm, intercomm, array_of_errcodes);
}

SP_PMPI int PMPI_Comm_spawn(const char *command, char **argv, int maxprocs, intptr_t info, int root, intptr_t comm, void *intercomm, int *array_of_errcodes);
SP_PMPI int PMPI_Comm_spawn(const char *command, char **argv, int maxprocs, intptr_t info, int root, intptr_t comm, void *intercomm, int *array_of_errcodes)
{
	return call_Comm_spawn(__builtin_return_address(0), 1, command, argv, maxprocs, info, root, comm, intercomm, array_of_errcodes);
}
