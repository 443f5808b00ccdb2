/*
 * query.c: what has to be asked of the MPI to record a call: lengths of arrays
 * that the standard gives in terms of a communicator, and facts about new
 * communicators and datatypes.
 */
#include "calls.h"
#include "put.h"
#include "runtime.h"

static int is_null(intptr_t comm)
{
	return sp_handle(comm) == (uint64_t)sp_fl.comm_null;
}

/* A layer below may show the program another MPI_COMM_WORLD than the MPI's (layers.c); the
   duplicate is of the program's. */
static intptr_t seen(intptr_t comm)
{
	return sp_run.comm && sp_handle(comm) == (uint64_t)sp_fl.comm_world ? sp_run.comm : comm;
}

static int is_inter(intptr_t comm)
{
	int inter = 0;
	P_MPI_Comm_test_inter(comm, &inter);
	return inter;
}

int64_t sp_localsize(intptr_t comm)
{
	int n = 0;
	if (!is_null(comm))
		P_MPI_Comm_size(seen(comm), &n);
	return n;
}

int64_t sp_size(intptr_t comm)
{
	int n = 0;
	if (is_null(comm))
		return 0;
	if (is_inter(comm))
		P_MPI_Comm_remote_size(comm, &n);
	else
		P_MPI_Comm_size(seen(comm), &n);
	return n;
}

int64_t sp_dims(intptr_t comm)
{
	int n = 0;
	if (!is_null(comm))
		P_MPI_Cartdim_get(comm, &n);
	return n;
}

static int64_t degree(intptr_t comm, int out)
{
	int kind = sp_fl.undefined, rank = 0, n = 0, in_degree = 0, out_degree = 0, weighted = 0;
	if (is_null(comm))
		return 0;
	P_MPI_Topo_test(comm, &kind);
	if (kind == sp_fl.cart)
		return 2 * sp_dims(comm);
	if (kind == sp_fl.graph) {
		P_MPI_Comm_rank(comm, &rank);
		P_MPI_Graph_neighbors_count(comm, rank, &n);
		return n;
	}
	if (kind == sp_fl.dist_graph)
		P_MPI_Dist_graph_neighbors_count(comm, &in_degree, &out_degree, &weighted);
	return out ? out_degree : in_degree;
}

int64_t sp_indegree(intptr_t comm)
{
	return degree(comm, 0);
}

int64_t sp_outdegree(intptr_t comm)
{
	return degree(comm, 1);
}

int64_t sp_nodes(intptr_t comm)
{
	int nodes = 0, edges = 0;
	P_MPI_Graphdims_get(comm, &nodes, &edges);
	return nodes;
}

int64_t sp_edges(intptr_t comm)
{
	int nodes = 0, edges = 0;
	P_MPI_Graphdims_get(comm, &nodes, &edges);
	return edges;
}

int64_t sp_neighbors(intptr_t comm, int rank)
{
	int n = 0;
	P_MPI_Graph_neighbors_count(comm, rank, &n);
	return n;
}

static int64_t weights(intptr_t comm, int out)
{
	int in_degree = 0, out_degree = 0, weighted = 0;
	P_MPI_Dist_graph_neighbors_count(comm, &in_degree, &out_degree, &weighted);
	return !weighted ? 0 : out ? out_degree : in_degree;
}

int64_t sp_inweights(intptr_t comm)
{
	return weights(comm, 0);
}

int64_t sp_outweights(intptr_t comm)
{
	return weights(comm, 1);
}

/* ---- what a datatype was made of, in the order of MPI_Type_get_envelope_c ---- */

static int64_t envelope(intptr_t type, int which)
{
	int64_t n[4] = {0, 0, 0, 0};
	int small[3] = {0, 0, 0}, combiner = 0;
	/* there may be a stand-in, which fails */
	if (P_MPI_Type_get_envelope_c && P_MPI_Type_get_envelope_c(type, &n[0], &n[1], &n[2], &n[3], &combiner) == 0)
		return n[which];
	P_MPI_Type_get_envelope(type, &small[0], &small[1], &small[2], &combiner);
	return which == 2 ? 0 : small[which < 2 ? which : 2];
}

int64_t sp_integers(intptr_t type)
{
	return envelope(type, 0);
}

int64_t sp_addresses(intptr_t type)
{
	return envelope(type, 1);
}

int64_t sp_largecounts(intptr_t type)
{
	return envelope(type, 2);
}

int64_t sp_datatypes(intptr_t type)
{
	return envelope(type, 3);
}

/* ---- what a category of the tool interface has ---- */

static int64_t members_of(int category, int which)
{
	int n[3] = {0, 0, 0}, name = 0, desc = 0;
	P_MPI_T_category_get_info(category, NULL, &name, NULL, &desc, &n[0], &n[1], &n[2]);
	return n[which];
}

int64_t sp_cvars(int category)
{
	return members_of(category, 0);
}

int64_t sp_pvars(int category)
{
	return members_of(category, 1);
}

int64_t sp_categories(int category)
{
	return members_of(category, 2);
}

int64_t sp_events(int category)
{
	int n = 0;
	P_MPI_T_category_get_num_events(category, &n);
	return n;
}

int sp_at_root(int root, intptr_t comm)
{
	int rank = -1;
	if (root == sp_fl.root)
		return 1;
	if (root < 0 || is_null(comm) || is_inter(comm))
		return 0;
	P_MPI_Comm_rank(seen(comm), &rank);
	return rank == root;
}

/* World rank of rank r of a group; -1 if it is outside this world. */
static int64_t world_rank(intptr_t group, int r)
{
	int world = sp_fl.undefined;
	if (sp_run.world_group)
		P_MPI_Group_translate_ranks(group, 1, &r, sp_run.world_group, &world);
	return world == sp_fl.undefined ? -1 : world;
}

static uint64_t mix(uint64_t hash, uint64_t v)
{
	hash = (hash ^ v) * 0x9e3779b97f4a7c15ull;
	return hash ^ hash >> 32;
}

/* FNV-like over the members' world ranks: equal lists, equal hashes. */
static uint64_t members(intptr_t group, int n)
{
	uint64_t hash = mix(0, (uint64_t)n);
	for (int i = 0; i < n; i++)
		hash = mix(hash, (uint64_t)world_rank(group, i));
	return hash ? hash : 1;
}

int sp_comm_aux(uint64_t aux[6], uint64_t handle, int of_group)
{
	intptr_t comm = (intptr_t)handle, group = 0;
	int rank = -1, size = 0, remote = 0;
	if (is_null(comm))
		return 0;
	P_MPI_Comm_rank(comm, &rank);
	P_MPI_Comm_size(comm, &size);
	P_MPI_Comm_group(comm, &group);
	aux[0] = (uint64_t)world_rank(group, 0);
	aux[1] = (uint64_t)rank;
	aux[2] = (uint64_t)size;
	aux[3] = (uint64_t)-1;
	aux[4] = 0;
	aux[5] = of_group ? members(group, size) : 0;
	P_MPI_Group_free(&group);
	if (is_inter(comm)) {
		intptr_t other = 0;
		P_MPI_Comm_remote_size(comm, &remote);
		P_MPI_Comm_remote_group(comm, &other);
		aux[3] = (uint64_t)world_rank(other, 0);
		aux[4] = (uint64_t)remote;
		P_MPI_Group_free(&other);
	}
	return 6;
}

int sp_type_aux(uint64_t aux[5], uint64_t handle)
{
	intptr_t type = (intptr_t)handle;
	for (int i = 0; i < 5; i++)
		aux[i] = (uint64_t)-1;
	if (handle == (uint64_t)sp_fl.datatype_null)
		return 5;
	int64_t *out = (int64_t *)aux;
	if (P_MPI_Type_size_x) {
		P_MPI_Type_size_x(type, out);
		P_MPI_Type_get_extent_x(type, out + 1, out + 2);
		P_MPI_Type_get_true_extent_x(type, out + 3, out + 4);
	} else if (P_MPI_Type_size_c) {
		P_MPI_Type_size_c(type, out);
		P_MPI_Type_get_extent_c(type, out + 1, out + 2);
		P_MPI_Type_get_true_extent_c(type, out + 3, out + 4);
	}
	return 5;
}
