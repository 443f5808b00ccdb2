
static void sp_f_Type_get_contents(const void *site_, int form_, void *f_datatype, void *f_max_integers, void *f_max_addresses, void *f_max_datatypes, void *f_array_of_integers, void *f_array_of_addresses, void *f_array_of_datatypes, void *f_ierror)
{
	static void *next_[SP_F_SLOTS];
	struct sp_thread *t_ = &sp_self;
	void (*real_)(void *, void *, void *, void *, void *, void *, void *, void *);
	*(void **)&real_ = sp_f_next(next_, "mpi_type_get_contents", form_);
	if (sp_unlikely(sp_f_is_absent(*(void **)&real_, f_ierror)))
		return;
	int pmpi_ = form_ & SP_F_PMPI;
	form_ &= ~SP_F_PMPI;
	if (sp_unlikely(!(pmpi_ ? sp_open_pmpi(t_, SP_HANDLES_MPI_Type_get_contents, site_) : sp_open(t_, SP_HANDLES_MPI_Type_get_contents, site_)))) {
		real_(f_datatype, f_max_integers, f_max_addresses, f_max_datatypes, f_array_of_integers, f_array_of_addresses, f_array_of_datatypes, f_ierror);
		return;
	}
	int error_ = 0;
	if (!f_ierror)
		f_ierror = &error_;
	struct sp_f_pool pool_;
	pool_.used = 0;
	pool_.more = NULL;
	intptr_t datatype = sp_f_handle(f_datatype, SP_ID_MPI_Type_f2c);
	int max_integers = (int)sp_ld32(f_max_integers);
	int max_addresses = (int)sp_ld32(f_max_addresses);
	int max_datatypes = (int)sp_ld32(f_max_datatypes);
	int *array_of_integers = f_array_of_integers;
	int64_t *array_of_addresses = f_array_of_addresses;
	void *array_of_datatypes = f_array_of_datatypes;
	sp_enter_Type_get_contents(t_, site_, SP_FORTRAN_FLAG, datatype, max_integers, max_addresses, max_datatypes, array_of_integers, array_of_addresses, array_of_datatypes);
	sp_entered(t_);
	real_(f_datatype, f_max_integers, f_max_addresses, f_max_datatypes, f_array_of_integers, f_array_of_addresses, f_array_of_datatypes, f_ierror);
	sp_back(t_);
	int rc_ = (int)sp_ld32(f_ierror);
	if (sp_has_outputs(rc_)) {
		array_of_datatypes = sp_f_handles(&pool_, f_array_of_datatypes, sp_smaller(sp_at_least_0((int64_t)max_datatypes), sp_datatypes(datatype)), SP_ID_MPI_Type_f2c);
	}
	sp_leave_Type_get_contents(t_, rc_, datatype, max_integers, max_addresses, max_datatypes, array_of_integers, array_of_addresses, array_of_datatypes);
	sp_f_done(&pool_);
}

__attribute__((used)) static void wrap_mpi_type_get_contents_(void *f_datatype, void *f_max_integers, void *f_max_addresses, void *f_max_datatypes, void *f_array_of_integers, void *f_array_of_addresses, void *f_array_of_datatypes, void *f_ierror)
{
	sp_f_Type_get_contents(__builtin_return_address(0), SP_F_PLAIN, f_datatype, f_max_integers, f_max_addresses, f_max_datatypes, f_array_of_integers, f_array_of_addresses, f_array_of_datatypes, f_ierror);
}

SP_API void pmpi_type_get_contents_(void *f_datatype, void *f_max_integers, void *f_max_addresses, void *f_max_datatypes, void *f_array_of_integers, void *f_array_of_addresses, void *f_array_of_datatypes, void *f_ierror)
{
	sp_f_Type_get_contents(__builtin_return_address(0), SP_F_PLAIN | SP_F_PMPI, f_datatype, f_max_integers, f_max_addresses, f_max_datatypes, f_array_of_integers, f_array_of_addresses, f_array_of_datatypes, f_ierror);
}
SP_TRAMPOLINE(mpi_type_get_contents_, wrap_mpi_type_get_contents_);

SP_API void mpi_type_get_contents_f08_(void *f_datatype, void *f_max_integers, void *f_max_addresses, void *f_max_datatypes, void *f_array_of_integers, void *f_array_of_addresses, void *f_array_of_datatypes, void *f_ierror)
{
	sp_f_Type_get_contents(__builtin_return_address(0), SP_F_08, f_datatype, f_max_integers, f_max_addresses, f_max_datatypes, f_array_of_integers, f_array_of_addresses, f_array_of_datatypes, f_ierror);
}

SP_API void pmpi_type_get_contents_f08_(void *f_datatype, void *f_max_integers, void *f_max_addresses, void *f_max_datatypes, void *f_array_of_integers, void *f_array_of_addresses, void *f_array_of_datatypes, void *f_ierror)
{
	sp_f_Type_get_contents(__builtin_return_address(0), SP_F_08 | SP_F_PMPI, f_datatype, f_max_integers, f_max_addresses, f_max_datatypes, f_array_of_integers, f_array_of_addresses, f_array_of_datatypes, f_ierror);
}
SP_F_ALIAS(pmpir_type_get_contents_f08_, pmpi_type_get_contents_f08_);

