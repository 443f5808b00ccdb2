
static void sp_f_Alltoallw(const void *site_, int form_, void *f_sendbuf, void *f_sendcounts, void *f_sdispls, void *f_sendtypes, void *f_recvbuf, void *f_recvcounts, void *f_rdispls, void *f_recvtypes, void *f_comm, void *f_ierror)
{
	static void *next_[SP_F_SLOTS];
	struct sp_thread *t_ = &sp_self;
	void (*real_)(void *, void *, void *, void *, void *, void *, void *, void *, void *, void *);
	*(void **)&real_ = sp_f_next(next_, "mpi_alltoallw", form_);
	if (sp_unlikely(sp_f_is_absent(*(void **)&real_, f_ierror)))
		return;
	int pmpi_ = form_ & SP_F_PMPI;
	form_ &= ~SP_F_PMPI;
	if (sp_unlikely(!(pmpi_ ? sp_open_pmpi(t_, SP_HANDLES_MPI_Alltoallw, site_) : sp_open(t_, SP_HANDLES_MPI_Alltoallw, site_)))) {
		real_(f_sendbuf, f_sendcounts, f_sdispls, f_sendtypes, f_recvbuf, f_recvcounts, f_rdispls, f_recvtypes, f_comm, f_ierror);
		return;
	}
	int error_ = 0;
	if (!f_ierror)
		f_ierror = &error_;
	struct sp_f_pool pool_;
	pool_.used = 0;
	pool_.more = NULL;
	const void *sendbuf = sp_f_buffer(f_sendbuf, form_);
	void *recvbuf = sp_f_buffer(f_recvbuf, form_);
	intptr_t comm = sp_f_handle(f_comm, SP_ID_MPI_Comm_f2c);
	const int *sendcounts = f_sendcounts;
	const int *sdispls = f_sdispls;
	const void *sendtypes = sp_f_handles(&pool_, f_sendtypes, sendbuf == sp_fl.in_place ? SP_LEN_ABSENT : sp_size(comm), SP_ID_MPI_Type_f2c);
	const int *recvcounts = f_recvcounts;
	const int *rdispls = f_rdispls;
	const void *recvtypes = sp_f_handles(&pool_, f_recvtypes, sp_size(comm), SP_ID_MPI_Type_f2c);
	sp_enter_Alltoallw(t_, site_, SP_FORTRAN_FLAG, sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm);
	sp_entered(t_);
	real_(f_sendbuf, f_sendcounts, f_sdispls, f_sendtypes, f_recvbuf, f_recvcounts, f_rdispls, f_recvtypes, f_comm, f_ierror);
	sp_back(t_);
	int rc_ = (int)sp_ld32(f_ierror);
	sp_leave_Alltoallw(t_, rc_, sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm);
	sp_f_done(&pool_);
}

__attribute__((used)) static void wrap_mpi_alltoallw_(void *f_sendbuf, void *f_sendcounts, void *f_sdispls, void *f_sendtypes, void *f_recvbuf, void *f_recvcounts, void *f_rdispls, void *f_recvtypes, void *f_comm, void *f_ierror)
{
	sp_f_Alltoallw(__builtin_return_address(0), SP_F_PLAIN, f_sendbuf, f_sendcounts, f_sdispls, f_sendtypes, f_recvbuf, f_recvcounts, f_rdispls, f_recvtypes, f_comm, f_ierror);
}

SP_API void pmpi_alltoallw_(void *f_sendbuf, void *f_sendcounts, void *f_sdispls, void *f_sendtypes, void *f_recvbuf, void *f_recvcounts, void *f_rdispls, void *f_recvtypes, void *f_comm, void *f_ierror)
{
	sp_f_Alltoallw(__builtin_return_address(0), SP_F_PLAIN | SP_F_PMPI, f_sendbuf, f_sendcounts, f_sdispls, f_sendtypes, f_recvbuf, f_recvcounts, f_rdispls, f_recvtypes, f_comm, f_ierror);
}
SP_TRAMPOLINE(mpi_alltoallw_, wrap_mpi_alltoallw_);

SP_API void mpi_alltoallw_f08_(void *f_sendbuf, void *f_sendcounts, void *f_sdispls, void *f_sendtypes, void *f_recvbuf, void *f_recvcounts, void *f_rdispls, void *f_recvtypes, void *f_comm, void *f_ierror)
{
	sp_f_Alltoallw(__builtin_return_address(0), SP_F_08, f_sendbuf, f_sendcounts, f_sdispls, f_sendtypes, f_recvbuf, f_recvcounts, f_rdispls, f_recvtypes, f_comm, f_ierror);
}

SP_API void pmpi_alltoallw_f08_(void *f_sendbuf, void *f_sendcounts, void *f_sdispls, void *f_sendtypes, void *f_recvbuf, void *f_recvcounts, void *f_rdispls, void *f_recvtypes, void *f_comm, void *f_ierror)
{
	sp_f_Alltoallw(__builtin_return_address(0), SP_F_08 | SP_F_PMPI, f_sendbuf, f_sendcounts, f_sdispls, f_sendtypes, f_recvbuf, f_recvcounts, f_rdispls, f_recvtypes, f_comm, f_ierror);
}
SP_F_ALIAS(pmpir_alltoallw_f08_, pmpi_alltoallw_f08_);

SP_API void mpi_alltoallw_f08ts_(void *f_sendbuf, void *f_sendcounts, void *f_sdispls, void *f_sendtypes, void *f_recvbuf, void *f_recvcounts, void *f_rdispls, void *f_recvtypes, void *f_comm, void *f_ierror)
{
	sp_f_Alltoallw(__builtin_return_address(0), SP_F_08TS, f_sendbuf, f_sendcounts, f_sdispls, f_sendtypes, f_recvbuf, f_recvcounts, f_rdispls, f_recvtypes, f_comm, f_ierror);
}

SP_API void pmpi_alltoallw_f08ts_(void *f_sendbuf, void *f_sendcounts, void *f_sdispls, void *f_sendtypes, void *f_recvbuf, void *f_recvcounts, void *f_rdispls, void *f_recvtypes, void *f_comm, void *f_ierror)
{
	sp_f_Alltoallw(__builtin_return_address(0), SP_F_08TS | SP_F_PMPI, f_sendbuf, f_sendcounts, f_sdispls, f_sendtypes, f_recvbuf, f_recvcounts, f_rdispls, f_recvtypes, f_comm, f_ierror);
}
SP_F_ALIAS(pmpir_alltoallw_f08ts_, pmpi_alltoallw_f08ts_);

