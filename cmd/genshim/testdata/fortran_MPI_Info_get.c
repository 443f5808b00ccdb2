
static void sp_f_Info_get(const void *site_, int form_, void *f_info, void *f_key, void *f_valuelen, void *f_value, void *f_flag, void *f_ierror, size_t l_key, size_t l_value)
{
	static void *next_[SP_F_SLOTS];
	struct sp_thread *t_ = &sp_self;
	void (*real_)(void *, void *, void *, void *, void *, void *, size_t, size_t);
	*(void **)&real_ = sp_f_next(next_, "mpi_info_get", form_);
	if (sp_unlikely(sp_f_is_absent(*(void **)&real_, f_ierror)))
		return;
	int pmpi_ = form_ & SP_F_PMPI;
	form_ &= ~SP_F_PMPI;
	if (sp_unlikely(!(pmpi_ ? sp_open_pmpi(t_, SP_HANDLES_MPI_Info_get, site_) : sp_open(t_, SP_HANDLES_MPI_Info_get, site_)))) {
		real_(f_info, f_key, f_valuelen, f_value, f_flag, f_ierror, l_key, l_value);
		return;
	}
	int error_ = 0;
	if (!f_ierror)
		f_ierror = &error_;
	struct sp_f_pool pool_;
	pool_.used = 0;
	pool_.more = NULL;
	intptr_t info = sp_f_handle(f_info, SP_ID_MPI_Info_f2c);
	const char *key = sp_f_string(&pool_, f_key, l_key, SP_F_INFO);
	int valuelen = (int)sp_ld32(f_valuelen);
	char *value = NULL;
	int v_flag = 0;
	int *flag = &v_flag;
	sp_enter_Info_get(t_, site_, SP_FORTRAN_FLAG, info, key, valuelen, value, flag);
	sp_entered(t_);
	real_(f_info, f_key, f_valuelen, f_value, f_flag, f_ierror, l_key, l_value);
	sp_back(t_);
	int rc_ = (int)sp_ld32(f_ierror);
	if (sp_has_outputs(rc_)) {
		value = sp_f_string(&pool_, f_value, l_value, SP_F_OUTPUT);
		v_flag = (int)sp_f_logical(f_flag);
	}
	sp_leave_Info_get(t_, rc_, info, key, valuelen, value, flag);
	sp_f_done(&pool_);
}

__attribute__((used)) static void wrap_mpi_info_get_(void *f_info, void *f_key, void *f_valuelen, void *f_value, void *f_flag, void *f_ierror, size_t l_key, size_t l_value)
{
	sp_f_Info_get(__builtin_return_address(0), SP_F_PLAIN, f_info, f_key, f_valuelen, f_value, f_flag, f_ierror, l_key, l_value);
}

SP_API void pmpi_info_get_(void *f_info, void *f_key, void *f_valuelen, void *f_value, void *f_flag, void *f_ierror, size_t l_key, size_t l_value)
{
	sp_f_Info_get(__builtin_return_address(0), SP_F_PLAIN | SP_F_PMPI, f_info, f_key, f_valuelen, f_value, f_flag, f_ierror, l_key, l_value);
}
SP_TRAMPOLINE(mpi_info_get_, wrap_mpi_info_get_);

SP_API void mpi_info_get_f08_(void *f_info, void *f_key, void *f_valuelen, void *f_value, void *f_flag, void *f_ierror, size_t l_key, size_t l_value)
{
	sp_f_Info_get(__builtin_return_address(0), SP_F_08, f_info, f_key, f_valuelen, f_value, f_flag, f_ierror, l_key, l_value);
}

SP_API void pmpi_info_get_f08_(void *f_info, void *f_key, void *f_valuelen, void *f_value, void *f_flag, void *f_ierror, size_t l_key, size_t l_value)
{
	sp_f_Info_get(__builtin_return_address(0), SP_F_08 | SP_F_PMPI, f_info, f_key, f_valuelen, f_value, f_flag, f_ierror, l_key, l_value);
}
SP_F_ALIAS(pmpir_info_get_f08_, pmpi_info_get_f08_);

