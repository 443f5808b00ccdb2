
static void sp_f_Type_hindexed(const void *site_, int form_, void *f_count, void *f_array_of_blocklengths, void *f_array_of_displacements, void *f_oldtype, void *f_newtype, void *f_ierror)
{
	static void *next_[SP_F_SLOTS];
	struct sp_thread *t_ = &sp_self;
	void (*real_)(void *, void *, void *, void *, void *, void *);
	*(void **)&real_ = sp_f_next(next_, "mpi_type_hindexed", form_);
	if (sp_unlikely(sp_f_is_absent(*(void **)&real_, f_ierror)))
		return;
	int pmpi_ = form_ & SP_F_PMPI;
	form_ &= ~SP_F_PMPI;
	if (sp_unlikely(!(pmpi_ ? sp_open_pmpi(t_, SP_HANDLES_MPI_Type_hindexed, site_) : sp_open(t_, SP_HANDLES_MPI_Type_hindexed, site_)))) {
		real_(f_count, f_array_of_blocklengths, f_array_of_displacements, f_oldtype, f_newtype, f_ierror);
		return;
	}
	int error_ = 0;
	if (!f_ierror)
		f_ierror = &error_;
	struct sp_f_pool pool_;
	pool_.used = 0;
	pool_.more = NULL;
	int count = (int)sp_ld32(f_count);
	intptr_t oldtype = sp_f_handle(f_oldtype, SP_ID_MPI_Type_f2c);
	intptr_t v_newtype = 0;
	void *newtype = &v_newtype;
	const int *array_of_blocklengths = f_array_of_blocklengths;
	const int64_t *array_of_displacements = sp_f_widened(&pool_, f_array_of_displacements, sp_at_least_0((int64_t)count));
	sp_enter_Type_hindexed(t_, site_, SP_FORTRAN_FLAG, count, array_of_blocklengths, array_of_displacements, oldtype, newtype);
	sp_entered(t_);
	real_(f_count, f_array_of_blocklengths, f_array_of_displacements, f_oldtype, f_newtype, f_ierror);
	sp_back(t_);
	int rc_ = (int)sp_ld32(f_ierror);
	if (sp_has_outputs(rc_)) {
		v_newtype = (intptr_t)sp_f_handle(f_newtype, SP_ID_MPI_Type_f2c);
	}
	sp_leave_Type_hindexed(t_, rc_, count, array_of_blocklengths, array_of_displacements, oldtype, newtype);
	sp_f_done(&pool_);
}

__attribute__((used)) static void wrap_mpi_type_hindexed_(void *f_count, void *f_array_of_blocklengths, void *f_array_of_displacements, void *f_oldtype, void *f_newtype, void *f_ierror)
{
	sp_f_Type_hindexed(__builtin_return_address(0), SP_F_PLAIN, f_count, f_array_of_blocklengths, f_array_of_displacements, f_oldtype, f_newtype, f_ierror);
}

SP_API void pmpi_type_hindexed_(void *f_count, void *f_array_of_blocklengths, void *f_array_of_displacements, void *f_oldtype, void *f_newtype, void *f_ierror)
{
	sp_f_Type_hindexed(__builtin_return_address(0), SP_F_PLAIN | SP_F_PMPI, f_count, f_array_of_blocklengths, f_array_of_displacements, f_oldtype, f_newtype, f_ierror);
}
SP_TRAMPOLINE(mpi_type_hindexed_, wrap_mpi_type_hindexed_);

