
static void sp_f_Comm_spawn(const void *site_, int form_, void *f_command, void *f_argv, void *f_maxprocs, void *f_info, void *f_root, void *f_comm, void *f_intercomm, void *f_array_of_errcodes, void *f_ierror, size_t l_command, size_t l_argv)
{
	static void *next_[SP_F_SLOTS];
	struct sp_thread *t_ = &sp_self;
	void (*real_)(void *, void *, void *, void *, void *, void *, void *, void *, void *, size_t, size_t);
	*(void **)&real_ = sp_f_next(next_, "mpi_comm_spawn", form_);
	if (sp_unlikely(sp_f_is_absent(*(void **)&real_, f_ierror)))
		return;
	int pmpi_ = form_ & SP_F_PMPI;
	form_ &= ~SP_F_PMPI;
	if (sp_unlikely(!(pmpi_ ? sp_open_pmpi(t_, SP_HANDLES_MPI_Comm_spawn, site_) : sp_open(t_, SP_HANDLES_MPI_Comm_spawn, site_)))) {
		real_(f_command, f_argv, f_maxprocs, f_info, f_root, f_comm, f_intercomm, f_array_of_errcodes, f_ierror, l_command, l_argv);
		return;
	}
	int error_ = 0;
	if (!f_ierror)
		f_ierror = &error_;
	struct sp_f_pool pool_;
	pool_.used = 0;
	pool_.more = NULL;
	const char *command = sp_f_string(&pool_, f_command, l_command, SP_F_INPUT);
	int maxprocs = (int)sp_ld32(f_maxprocs);
	intptr_t info = sp_f_handle(f_info, SP_ID_MPI_Info_f2c);
	int root = (int)sp_ld32(f_root);
	intptr_t comm = sp_f_handle(f_comm, SP_ID_MPI_Comm_f2c);
	intptr_t v_intercomm = 0;
	void *intercomm = &v_intercomm;
	char **argv = sp_f_argv(&pool_, f_argv, l_argv, (!sp_at_root(root, comm) ? SP_LEN_ABSENT : SP_TO_NULL) == SP_TO_NULL);
	int *array_of_errcodes = sp_f_array(f_array_of_errcodes);
	sp_enter_Comm_spawn(t_, site_, SP_FORTRAN_FLAG, command, argv, maxprocs, info, root, comm, intercomm, array_of_errcodes);
	sp_entered(t_);
	real_(f_command, f_argv, f_maxprocs, f_info, f_root, f_comm, f_intercomm, f_array_of_errcodes, f_ierror, l_command, l_argv);
	sp_back(t_);
	int rc_ = (int)sp_ld32(f_ierror);
	if (sp_has_outputs(rc_)) {
		v_intercomm = (intptr_t)sp_f_handle(f_intercomm, SP_ID_MPI_Comm_f2c);
	}
	sp_leave_Comm_spawn(t_, rc_, command, argv, maxprocs, info, root, comm, intercomm, array_of_errcodes);
	sp_f_done(&pool_);
}

__attribute__((used)) static void wrap_mpi_comm_spawn_(void *f_command, void *f_argv, void *f_maxprocs, void *f_info, void *f_root, void *f_comm, void *f_intercomm, void *f_array_of_errcodes, void *f_ierror, size_t l_command, size_t l_argv)
{
	sp_f_Comm_spawn(__builtin_return_address(0), SP_F_PLAIN, f_command, f_argv, f_maxprocs, f_info, f_root, f_comm, f_intercomm, f_array_of_errcodes, f_ierror, l_command, l_argv);
}

SP_API void pmpi_comm_spawn_(void *f_command, void *f_argv, void *f_maxprocs, void *f_info, void *f_root, void *f_comm, void *f_intercomm, void *f_array_of_errcodes, void *f_ierror, size_t l_command, size_t l_argv)
{
	sp_f_Comm_spawn(__builtin_return_address(0), SP_F_PLAIN | SP_F_PMPI, f_command, f_argv, f_maxprocs, f_info, f_root, f_comm, f_intercomm, f_array_of_errcodes, f_ierror, l_command, l_argv);
}
SP_TRAMPOLINE(mpi_comm_spawn_, wrap_mpi_comm_spawn_);

SP_API void mpi_comm_spawn_f08_(void *f_command, void *f_argv, void *f_maxprocs, void *f_info, void *f_root, void *f_comm, void *f_intercomm, void *f_array_of_errcodes, void *f_ierror, size_t l_command, size_t l_argv)
{
	sp_f_Comm_spawn(__builtin_return_address(0), SP_F_08, f_command, f_argv, f_maxprocs, f_info, f_root, f_comm, f_intercomm, f_array_of_errcodes, f_ierror, l_command, l_argv);
}

SP_API void pmpi_comm_spawn_f08_(void *f_command, void *f_argv, void *f_maxprocs, void *f_info, void *f_root, void *f_comm, void *f_intercomm, void *f_array_of_errcodes, void *f_ierror, size_t l_command, size_t l_argv)
{
	sp_f_Comm_spawn(__builtin_return_address(0), SP_F_08 | SP_F_PMPI, f_command, f_argv, f_maxprocs, f_info, f_root, f_comm, f_intercomm, f_array_of_errcodes, f_ierror, l_command, l_argv);
}
SP_F_ALIAS(pmpir_comm_spawn_f08_, pmpi_comm_spawn_f08_);

