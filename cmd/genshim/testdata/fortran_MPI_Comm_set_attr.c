
static void sp_f_Comm_set_attr(const void *site_, int form_, void *f_comm, void *f_comm_keyval, void *f_attribute_val, void *f_ierror)
{
	static void *next_[SP_F_SLOTS];
	struct sp_thread *t_ = &sp_self;
	void (*real_)(void *, void *, void *, void *);
	*(void **)&real_ = sp_f_next(next_, "mpi_comm_set_attr", form_);
	if (sp_unlikely(sp_f_is_absent(*(void **)&real_, f_ierror)))
		return;
	int pmpi_ = form_ & SP_F_PMPI;
	form_ &= ~SP_F_PMPI;
	if (sp_unlikely(!(pmpi_ ? sp_open_pmpi(t_, SP_HANDLES_MPI_Comm_set_attr, site_) : sp_open(t_, SP_HANDLES_MPI_Comm_set_attr, site_)))) {
		real_(f_comm, f_comm_keyval, f_attribute_val, f_ierror);
		return;
	}
	int error_ = 0;
	if (!f_ierror)
		f_ierror = &error_;
	intptr_t comm = sp_f_handle(f_comm, SP_ID_MPI_Comm_f2c);
	int comm_keyval = (int)sp_ld32(f_comm_keyval);
	const void *attribute_val = (const void *)(uintptr_t)sp_ld64(f_attribute_val);
	sp_enter_Comm_set_attr(t_, site_, SP_FORTRAN_FLAG, comm, comm_keyval, attribute_val);
	sp_entered(t_);
	real_(f_comm, f_comm_keyval, f_attribute_val, f_ierror);
	sp_back(t_);
	int rc_ = (int)sp_ld32(f_ierror);
	sp_leave_Comm_set_attr(t_, rc_, comm, comm_keyval, attribute_val);
}

__attribute__((used)) static void wrap_mpi_comm_set_attr_(void *f_comm, void *f_comm_keyval, void *f_attribute_val, void *f_ierror)
{
	sp_f_Comm_set_attr(__builtin_return_address(0), SP_F_PLAIN, f_comm, f_comm_keyval, f_attribute_val, f_ierror);
}

SP_API void pmpi_comm_set_attr_(void *f_comm, void *f_comm_keyval, void *f_attribute_val, void *f_ierror)
{
	sp_f_Comm_set_attr(__builtin_return_address(0), SP_F_PLAIN | SP_F_PMPI, f_comm, f_comm_keyval, f_attribute_val, f_ierror);
}
SP_TRAMPOLINE(mpi_comm_set_attr_, wrap_mpi_comm_set_attr_);

SP_API void mpi_comm_set_attr_f08_(void *f_comm, void *f_comm_keyval, void *f_attribute_val, void *f_ierror)
{
	sp_f_Comm_set_attr(__builtin_return_address(0), SP_F_08, f_comm, f_comm_keyval, f_attribute_val, f_ierror);
}

SP_API void pmpi_comm_set_attr_f08_(void *f_comm, void *f_comm_keyval, void *f_attribute_val, void *f_ierror)
{
	sp_f_Comm_set_attr(__builtin_return_address(0), SP_F_08 | SP_F_PMPI, f_comm, f_comm_keyval, f_attribute_val, f_ierror);
}
SP_F_ALIAS(pmpir_comm_set_attr_f08_, pmpi_comm_set_attr_f08_);

