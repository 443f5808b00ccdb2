
static SP_ASIDE const void *before_Neighbor_alltoallv(struct sp_thread *t_, const void *site_, const void *sendbuf, const int *sendcounts, const int *sdispls, intptr_t sendtype, void *recvbuf, const int *recvcounts, const int *rdispls, intptr_t recvtype, intptr_t comm)
{
	const int64_t params_[] = { (int64_t)(intptr_t)sendbuf, (int64_t)(intptr_t)sendcounts, (int64_t)(intptr_t)sdispls, (int64_t)(intptr_t)sendtype, (int64_t)(intptr_t)recvbuf, (int64_t)(intptr_t)recvcounts, (int64_t)(intptr_t)rdispls, (int64_t)(intptr_t)recvtype, (int64_t)(intptr_t)comm };
	return sp_before(t_, site_, 346, params_);
}

void sp_enter_Neighbor_alltoallv(struct sp_thread *t_, const void *site_, unsigned flags_, const void *sendbuf, const int *sendcounts, const int *sdispls, intptr_t sendtype, void *recvbuf, const int *recvcounts, const int *rdispls, intptr_t recvtype, intptr_t comm)
{
	if (sp_likely(sp_extra == SP_STACKS))
		site_ = sp_stack_site(t_, site_);
	else if (sp_unlikely(sp_extra))
		site_ = before_Neighbor_alltoallv(t_, site_, sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm);
	int64_t n_sendcounts = sp_outdegree(comm);
	int64_t n_recvcounts = sp_indegree(comm);
	uint64_t *w_ = sp_begin_enter(t_, site_);
	w_ = sp_put_address(w_, (const void *)sendbuf);
	w_ = sp_put_32s(t_, w_, sendcounts, n_sendcounts);
	w_ = sp_put_32s(t_, w_, sdispls, n_sendcounts);
	*w_++ = sp_handle(sendtype);
	w_ = sp_put_address(w_, (const void *)recvbuf);
	w_ = sp_put_32s(t_, w_, recvcounts, n_recvcounts);
	w_ = sp_put_32s(t_, w_, rdispls, n_recvcounts);
	*w_++ = sp_handle(recvtype);
	*w_++ = sp_handle(comm);
	sp_commit_enter(t_, w_, 346, flags_);
}

static SP_ASIDE uint64_t after_Neighbor_alltoallv(struct sp_thread *t_, int rc_, const void *sendbuf, const int *sendcounts, const int *sdispls, intptr_t sendtype, void *recvbuf, const int *recvcounts, const int *rdispls, intptr_t recvtype, intptr_t comm)
{
	uint64_t now_ = sp_ticks();
	const int64_t params_[] = { (int64_t)(intptr_t)sendbuf, (int64_t)(intptr_t)sendcounts, (int64_t)(intptr_t)sdispls, (int64_t)(intptr_t)sendtype, (int64_t)(intptr_t)recvbuf, (int64_t)(intptr_t)recvcounts, (int64_t)(intptr_t)rdispls, (int64_t)(intptr_t)recvtype, (int64_t)(intptr_t)comm };
	sp_after(t_, 346, (int64_t)rc_, now_, params_);
	return now_;
}

void sp_leave_Neighbor_alltoallv(struct sp_thread *t_, int rc_, const void *sendbuf, const int *sendcounts, const int *sdispls, intptr_t sendtype, void *recvbuf, const int *recvcounts, const int *rdispls, intptr_t recvtype, intptr_t comm)
{
	uint64_t now_ = sp_unlikely(sp_extra & SP_AFTER) ? after_Neighbor_alltoallv(t_, rc_, sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm) : sp_ticks();
	uint64_t *w_ = sp_begin_leave(t_, now_);
	unsigned flags_ = 0;
	if (sp_unlikely(rc_)) {
		flags_ = sp_has_outputs(rc_) ? SP_RC_FLAG : SP_RC_FLAG | SP_NOOUT_FLAG;
		*w_++ = (uint64_t)(int64_t)rc_;
	}
	sp_commit(t_, w_, 346, SP_LEAVE, flags_);
}

static inline __attribute__((always_inline)) int call_Neighbor_alltoallv(const void *site_, int pmpi_, const void *sendbuf, const int *sendcounts, const int *sdispls, intptr_t sendtype, void *recvbuf, const int *recvcounts, const int *rdispls, intptr_t recvtype, intptr_t comm)
{
	struct sp_thread *t_ = &sp_self;
	if (sp_unlikely(!sp_next[346]))
		sp_require(346);
	if (sp_unlikely(!(pmpi_ ? sp_open_pmpi(t_, 0, site_) : sp_open(t_, 0, site_))))
		return pmpi_ ? P_MPI_Neighbor_alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm) : N_MPI_Neighbor_alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm);
	sp_enter_Neighbor_alltoallv(t_, site_, 0, sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm);
	sp_entered(t_);
	int rc_ = pmpi_ ? P_MPI_Neighbor_alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm) : N_MPI_Neighbor_alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm);
	sp_back(t_);
	sp_leave_Neighbor_alltoallv(t_, rc_, sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm);
	return rc_;
}

SP_API int MPI_Neighbor_alltoallv(const void *sendbuf, const int *sendcounts, const int *sdispls, intptr_t sendtype, void *recvbuf, const int *recvcounts, const int *rdispls, intptr_t recvtype, intptr_t comm);
SP_API int MPI_Neighbor_alltoallv(const void *sendbuf, const int *sendcounts, const int *sdispls, intptr_t sendtype, void *recvbuf, const int *recvcounts, const int *rdispls, intptr_t recvtype, intptr_t comm)
{
	return call_Neighbor_alltoallv(__builtin_return_address(0), 0, sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm);
}

SP_PMPI int PMPI_Neighbor_alltoallv(const void *sendbuf, const int *sendcounts, const int *sdispls, intptr_t sendtype, void *recvbuf, const int *recvcounts, const int *rdispls, intptr_t recvtype, intptr_t comm);
SP_PMPI int PMPI_Neighbor_alltoallv(const void *sendbuf, const int *sendcounts, const int *sdispls, intptr_t sendtype, void *recvbuf, const int *recvcounts, const int *rdispls, intptr_t recvtype, intptr_t comm)
{
	return call_Neighbor_alltoallv(__builtin_return_address(0), 1, sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm);
}
