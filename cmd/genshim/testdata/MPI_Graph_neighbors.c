
static SP_ASIDE const void *before_Graph_neighbors(struct sp_thread *t_, const void *site_, intptr_t comm, int rank, int maxneighbors, int *neighbors)
{
	const int64_t params_[] = { (int64_t)(intptr_t)comm, (int64_t)(intptr_t)rank, (int64_t)(intptr_t)maxneighbors, (int64_t)(intptr_t)neighbors };
	return sp_before(t_, site_, 333, params_);
}

void sp_enter_Graph_neighbors(struct sp_thread *t_, const void *site_, unsigned flags_, intptr_t comm, int rank, int maxneighbors, int *neighbors)
{
	if (sp_likely(sp_extra == SP_STACKS))
		site_ = sp_stack_site(t_, site_);
	else if (sp_unlikely(sp_extra))
		site_ = before_Graph_neighbors(t_, site_, comm, rank, maxneighbors, neighbors);
	uint64_t *w_ = sp_begin_enter(t_, site_);
	*w_++ = sp_handle(comm);
	*w_++ = (uint64_t)(int64_t)rank;
	*w_++ = (uint64_t)(int64_t)maxneighbors;
	sp_commit_enter(t_, w_, 333, flags_);
}

static SP_ASIDE uint64_t after_Graph_neighbors(struct sp_thread *t_, int rc_, intptr_t comm, int rank, int maxneighbors, int *neighbors)
{
	uint64_t now_ = sp_ticks();
	const int64_t params_[] = { (int64_t)(intptr_t)comm, (int64_t)(intptr_t)rank, (int64_t)(intptr_t)maxneighbors, (int64_t)(intptr_t)neighbors };
	sp_after(t_, 333, (int64_t)rc_, now_, params_);
	return now_;
}

void sp_leave_Graph_neighbors(struct sp_thread *t_, int rc_, intptr_t comm, int rank, int maxneighbors, int *neighbors)
{
	uint64_t now_ = sp_unlikely(sp_extra & SP_AFTER) ? after_Graph_neighbors(t_, rc_, comm, rank, maxneighbors, neighbors) : sp_ticks();
	int64_t n_neighbors = sp_has_outputs(rc_) ? sp_smaller(sp_at_least_0((int64_t)maxneighbors), sp_neighbors(comm, rank)) : 0;
	uint64_t *w_ = sp_begin_leave(t_, now_);
	unsigned flags_ = 0;
	if (sp_unlikely(rc_)) {
		flags_ = sp_has_outputs(rc_) ? SP_RC_FLAG : SP_RC_FLAG | SP_NOOUT_FLAG;
		*w_++ = (uint64_t)(int64_t)rc_;
	}
	if (!(flags_ & SP_NOOUT_FLAG)) {
		w_ = sp_put_32s(t_, w_, neighbors, n_neighbors);
	}
	sp_commit(t_, w_, 333, SP_LEAVE, flags_);
}

static inline __attribute__((always_inline)) int call_Graph_neighbors(const void *site_, int pmpi_, intptr_t comm, int rank, int maxneighbors, int *neighbors)
{
	struct sp_thread *t_ = &sp_self;
	if (sp_unlikely(!sp_next[333]))
		sp_require(333);
	if (sp_unlikely(!(pmpi_ ? sp_open_pmpi(t_, 0, site_) : sp_open(t_, 0, site_))))
		return pmpi_ ? P_MPI_Graph_neighbors(comm, rank, maxneighbors, neighbors) : N_MPI_Graph_neighbors(comm, rank, maxneighbors, neighbors);
	sp_enter_Graph_neighbors(t_, site_, 0, comm, rank, maxneighbors, neighbors);
	sp_entered(t_);
	int rc_ = pmpi_ ? P_MPI_Graph_neighbors(comm, rank, maxneighbors, neighbors) : N_MPI_Graph_neighbors(comm, rank, maxneighbors, neighbors);
	sp_back(t_);
	sp_leave_Graph_neighbors(t_, rc_, comm, rank, maxneighbors, neighbors);
	return rc_;
}

SP_API int MPI_Graph_neighbors(intptr_t comm, int rank, int maxneighbors, int *neighbors);
SP_API int MPI_Graph_neighbors(intptr_t comm, int rank, int maxneighbors, int *neighbors)
{
	return call_Graph_neighbors(__builtin_return_address(0), 0, comm, rank, maxneighbors, neighbors);
}

SP_PMPI int PMPI_Graph_neighbors(intptr_t comm, int rank, int maxneighbors, int *neighbors);
SP_PMPI int PMPI_Graph_neighbors(intptr_t comm, int rank, int maxneighbors, int *neighbors)
{
	return call_Graph_neighbors(__builtin_return_address(0), 1, comm, rank, maxneighbors, neighbors);
}
