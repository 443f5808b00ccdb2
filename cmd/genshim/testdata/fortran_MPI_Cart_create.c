
static void sp_f_Cart_create(const void *site_, int form_, void *f_comm_old, void *f_ndims, void *f_dims, void *f_periods, void *f_reorder, void *f_comm_cart, void *f_ierror)
{
	static void *next_[SP_F_SLOTS];
	struct sp_thread *t_ = &sp_self;
	void (*real_)(void *, void *, void *, void *, void *, void *, void *);
	*(void **)&real_ = sp_f_next(next_, "mpi_cart_create", form_);
	if (sp_unlikely(sp_f_is_absent(*(void **)&real_, f_ierror)))
		return;
	int pmpi_ = form_ & SP_F_PMPI;
	form_ &= ~SP_F_PMPI;
	if (sp_unlikely(!(pmpi_ ? sp_open_pmpi(t_, SP_HANDLES_MPI_Cart_create, site_) : sp_open(t_, SP_HANDLES_MPI_Cart_create, site_)))) {
		real_(f_comm_old, f_ndims, f_dims, f_periods, f_reorder, f_comm_cart, f_ierror);
		return;
	}
	int error_ = 0;
	if (!f_ierror)
		f_ierror = &error_;
	struct sp_f_pool pool_;
	pool_.used = 0;
	pool_.more = NULL;
	intptr_t comm_old = sp_f_handle(f_comm_old, SP_ID_MPI_Comm_f2c);
	int ndims = (int)sp_ld32(f_ndims);
	int reorder = (int)sp_f_logical(f_reorder);
	intptr_t v_comm_cart = 0;
	void *comm_cart = &v_comm_cart;
	const int *dims = f_dims;
	const int *periods = sp_f_logicals(&pool_, f_periods, sp_at_least_0((int64_t)ndims));
	sp_enter_Cart_create(t_, site_, SP_FORTRAN_FLAG, comm_old, ndims, dims, periods, reorder, comm_cart);
	sp_entered(t_);
	real_(f_comm_old, f_ndims, f_dims, f_periods, f_reorder, f_comm_cart, f_ierror);
	sp_back(t_);
	int rc_ = (int)sp_ld32(f_ierror);
	if (sp_has_outputs(rc_)) {
		v_comm_cart = (intptr_t)sp_f_handle(f_comm_cart, SP_ID_MPI_Comm_f2c);
	}
	sp_leave_Cart_create(t_, rc_, comm_old, ndims, dims, periods, reorder, comm_cart);
	sp_f_done(&pool_);
}

__attribute__((used)) static void wrap_mpi_cart_create_(void *f_comm_old, void *f_ndims, void *f_dims, void *f_periods, void *f_reorder, void *f_comm_cart, void *f_ierror)
{
	sp_f_Cart_create(__builtin_return_address(0), SP_F_PLAIN, f_comm_old, f_ndims, f_dims, f_periods, f_reorder, f_comm_cart, f_ierror);
}

SP_API void pmpi_cart_create_(void *f_comm_old, void *f_ndims, void *f_dims, void *f_periods, void *f_reorder, void *f_comm_cart, void *f_ierror)
{
	sp_f_Cart_create(__builtin_return_address(0), SP_F_PLAIN | SP_F_PMPI, f_comm_old, f_ndims, f_dims, f_periods, f_reorder, f_comm_cart, f_ierror);
}
SP_TRAMPOLINE(mpi_cart_create_, wrap_mpi_cart_create_);

SP_API void mpi_cart_create_f08_(void *f_comm_old, void *f_ndims, void *f_dims, void *f_periods, void *f_reorder, void *f_comm_cart, void *f_ierror)
{
	sp_f_Cart_create(__builtin_return_address(0), SP_F_08, f_comm_old, f_ndims, f_dims, f_periods, f_reorder, f_comm_cart, f_ierror);
}

SP_API void pmpi_cart_create_f08_(void *f_comm_old, void *f_ndims, void *f_dims, void *f_periods, void *f_reorder, void *f_comm_cart, void *f_ierror)
{
	sp_f_Cart_create(__builtin_return_address(0), SP_F_08 | SP_F_PMPI, f_comm_old, f_ndims, f_dims, f_periods, f_reorder, f_comm_cart, f_ierror);
}
SP_F_ALIAS(pmpir_cart_create_f08_, pmpi_cart_create_f08_);

