
static SP_ASIDE const void *before_Alltoallw(struct sp_thread *t_, const void *site_, const void *sendbuf, const int *sendcounts, const int *sdispls, const void *sendtypes, void *recvbuf, const int *recvcounts, const int *rdispls, const void *recvtypes, intptr_t comm)
{
	const int64_t params_[] = { (int64_t)(intptr_t)sendbuf, (int64_t)(intptr_t)sendcounts, (int64_t)(intptr_t)sdispls, (int64_t)(intptr_t)sendtypes, (int64_t)(intptr_t)recvbuf, (int64_t)(intptr_t)recvcounts, (int64_t)(intptr_t)rdispls, (int64_t)(intptr_t)recvtypes, (int64_t)(intptr_t)comm };
	return sp_before(t_, site_, 168, params_);
}

void sp_enter_Alltoallw(struct sp_thread *t_, const void *site_, unsigned flags_, const void *sendbuf, const int *sendcounts, const int *sdispls, const void *sendtypes, void *recvbuf, const int *recvcounts, const int *rdispls, const void *recvtypes, intptr_t comm)
{
	if (sp_likely(sp_extra == SP_STACKS))
		site_ = sp_stack_site(t_, site_);
	else if (sp_unlikely(sp_extra))
		site_ = before_Alltoallw(t_, site_, sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm);
	int64_t n_sendcounts = sendbuf == sp_fl.in_place ? SP_LEN_ABSENT : sp_size(comm);
	int64_t n_recvcounts = sp_size(comm);
	uint64_t *w_ = sp_begin_enter(t_, site_);
	w_ = sp_put_address(w_, (const void *)sendbuf);
	w_ = sp_put_32s(t_, w_, sendcounts, n_sendcounts);
	w_ = sp_put_32s(t_, w_, sdispls, n_sendcounts);
	w_ = sp_put_handles(t_, w_, sendtypes, n_sendcounts);
	w_ = sp_put_address(w_, (const void *)recvbuf);
	w_ = sp_put_32s(t_, w_, recvcounts, n_recvcounts);
	w_ = sp_put_32s(t_, w_, rdispls, n_recvcounts);
	w_ = sp_put_handles(t_, w_, recvtypes, n_recvcounts);
	*w_++ = sp_handle(comm);
	sp_commit_enter(t_, w_, 168, flags_);
}

static SP_ASIDE uint64_t after_Alltoallw(struct sp_thread *t_, int rc_, const void *sendbuf, const int *sendcounts, const int *sdispls, const void *sendtypes, void *recvbuf, const int *recvcounts, const int *rdispls, const void *recvtypes, intptr_t comm)
{
	uint64_t now_ = sp_ticks();
	const int64_t params_[] = { (int64_t)(intptr_t)sendbuf, (int64_t)(intptr_t)sendcounts, (int64_t)(intptr_t)sdispls, (int64_t)(intptr_t)sendtypes, (int64_t)(intptr_t)recvbuf, (int64_t)(intptr_t)recvcounts, (int64_t)(intptr_t)rdispls, (int64_t)(intptr_t)recvtypes, (int64_t)(intptr_t)comm };
	sp_after(t_, 168, (int64_t)rc_, now_, params_);
	return now_;
}

void sp_leave_Alltoallw(struct sp_thread *t_, int rc_, const void *sendbuf, const int *sendcounts, const int *sdispls, const void *sendtypes, void *recvbuf, const int *recvcounts, const int *rdispls, const void *recvtypes, intptr_t comm)
{
	uint64_t now_ = sp_unlikely(sp_extra & SP_AFTER) ? after_Alltoallw(t_, rc_, sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm) : sp_ticks();
	uint64_t *w_ = sp_begin_leave(t_, now_);
	unsigned flags_ = 0;
	if (sp_unlikely(rc_)) {
		flags_ = sp_has_outputs(rc_) ? SP_RC_FLAG : SP_RC_FLAG | SP_NOOUT_FLAG;
		*w_++ = (uint64_t)(int64_t)rc_;
	}
	sp_commit(t_, w_, 168, SP_LEAVE, flags_);
}

static inline __attribute__((always_inline)) int call_Alltoallw(const void *site_, int pmpi_, const void *sendbuf, const int *sendcounts, const int *sdispls, const void *sendtypes, void *recvbuf, const int *recvcounts, const int *rdispls, const void *recvtypes, intptr_t comm)
{
	struct sp_thread *t_ = &sp_self;
	if (sp_unlikely(!sp_next[168]))
		sp_require(168);
	if (sp_unlikely(!(pmpi_ ? sp_open_pmpi(t_, 0, site_) : sp_open(t_, 0, site_))))
		return pmpi_ ? P_MPI_Alltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm) : N_MPI_Alltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm);
	sp_enter_Alltoallw(t_, site_, 0, sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm);
	sp_entered(t_);
	int rc_ = pmpi_ ? P_MPI_Alltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm) : N_MPI_Alltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm);
	sp_back(t_);
	sp_leave_Alltoallw(t_, rc_, sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm);
	return rc_;
}

SP_API int MPI_Alltoallw(const void *sendbuf, const int *sendcounts, const int *sdispls, const void *sendtypes, void *recvbuf, const int *recvcounts, const int *rdispls, const void *recvtypes, intptr_t comm);
SP_API int MPI_Alltoallw(const void *sendbuf, const int *sendcounts, const int *sdispls, const void *sendtypes, void *recvbuf, const int *recvcounts, const int *rdispls, const void *recvtypes, intptr_t comm)
{
	return call_Alltoallw(__builtin_return_address(0), 0, sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm);
}

SP_PMPI int PMPI_Alltoallw(const void *sendbuf, const int *sendcounts, const int *sdispls, const void *sendtypes, void *recvbuf, const int *recvcounts, const int *rdispls, const void *recvtypes, intptr_t comm);
SP_PMPI int PMPI_Alltoallw(const void *sendbuf, const int *sendcounts, const int *sdispls, const void *sendtypes, void *recvbuf, const int *recvcounts, const int *rdispls, const void *recvtypes, intptr_t comm)
{
	return call_Alltoallw(__builtin_return_address(0), 1, sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm);
}
