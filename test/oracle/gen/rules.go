package gen

// lengths says how long arrays are: a C expression over the parameters of the
// call, looked up as "Function.param" and then as "param". A negative value
// means that the array is not significant here. Parameter names are those of
// the headers, which differ a little between MPIs.
var lengths = map[string]string{
	// Datatypes.
	"array_of_blocklengths":                  "count",
	"array_of_block_lengths":                 "count",
	"array_of_displacements":                 "count",
	"array_of_types":                         "count",
	"array_of_gsizes":                        "ndims",
	"array_of_distribs":                      "ndims",
	"array_of_dargs":                         "ndims",
	"array_of_psizes":                        "ndims",
	"gsize_array":                            "ndims",
	"distrib_array":                          "ndims",
	"darg_array":                             "ndims",
	"psize_array":                            "ndims",
	"array_of_sizes":                         "ndims",
	"array_of_subsizes":                      "ndims",
	"array_of_starts":                        "ndims",
	"size_array":                             "ndims",
	"subsize_array":                          "ndims",
	"start_array":                            "ndims",
	"array_of_integers":                      "o_least(max_integers, o_envelope(DATATYPE, 0))",
	"array_of_addresses":                     "o_least(max_addresses, o_envelope(DATATYPE, 1))",
	"array_of_large_counts":                  "o_least(max_large_counts, o_envelope(DATATYPE, 2))",
	"Type_get_contents.array_of_datatypes":   "o_least(max_datatypes, o_envelope(DATATYPE, 3))",
	"Type_get_contents_c.array_of_datatypes": "o_least(max_datatypes, o_envelope(DATATYPE, 3))",

	// Groups and topologies.
	"ranks":                              "n",
	"ranks1":                             "n",
	"ranks2":                             "n",
	"ranges":                             "n",
	"dims":                               "ndims",
	"periods":                            "ndims",
	"Dims_create.dims":                   "ndims",
	"Cart_get.dims":                      "o_least(maxdims, o_cart_dims(comm))",
	"Cart_get.periods":                   "o_least(maxdims, o_cart_dims(comm))",
	"Cart_get.coords":                    "o_least(maxdims, o_cart_dims(comm))",
	"Cart_coords.coords":                 "o_least(maxdims, o_cart_dims(comm))",
	"Cart_rank.coords":                   "o_cart_dims(comm)",
	"remain_dims":                        "o_cart_dims(comm)",
	"index":                              "nnodes",
	"indx":                               "nnodes",
	"edges":                              "nnodes > 0 ? INDEX[nnodes - 1] : 0",
	"Graph_get.index":                    "o_least(maxindex, o_graph(comm, 0))",
	"Graph_get.indx":                     "o_least(maxindex, o_graph(comm, 0))",
	"Graph_get.edges":                    "o_least(maxedges, o_graph(comm, 1))",
	"neighbors":                          "o_least(maxneighbors, o_neighbors(comm, rank))",
	"Dist_graph_create.sources":          "n",
	"nodes":                              "n",
	"degrees":                            "n",
	"Dist_graph_create.destinations":     "o_sum(degrees, n)",
	"targets":                            "o_sum(degrees, n)",
	"weights":                            "o_sum(degrees, n)",
	"Dist_graph_create_adjacent.sources": "indegree",
	"sourceweights":                      "indegree",
	"Dist_graph_create_adjacent.destinations": "outdegree",
	"destweights":                        "outdegree",
	"Dist_graph_neighbors.sources":       "o_least(maxindegree, o_degree(comm, 0))",
	"Dist_graph_neighbors.sourceweights": "o_weighted(comm) ? o_least(maxindegree, o_degree(comm, 0)) : 0",
	"Dist_graph_neighbors.destinations":  "o_least(maxoutdegree, o_degree(comm, 1))",
	"Dist_graph_neighbors.destweights":   "o_weighted(comm) ? o_least(maxoutdegree, o_degree(comm, 1)) : 0",

	// Requests.
	"array_of_requests":                         "count",
	"array_of_statuses":                         "count",
	"Testsome.array_of_requests":                "incount",
	"Waitsome.array_of_requests":                "incount",
	"Testsome.array_of_statuses":                "*outcount == MPI_UNDEFINED ? 0 : *outcount",
	"Waitsome.array_of_statuses":                "*outcount == MPI_UNDEFINED ? 0 : *outcount",
	"array_of_indices":                          "*outcount == MPI_UNDEFINED ? 0 : *outcount",
	"array_of_partitions":                       "length",
	"partition_list":                            "length",
	"Request_get_status_some.array_of_requests": "incount",
	"Request_get_status_some.array_of_statuses": "*outcount == MPI_UNDEFINED ? 0 : *outcount",

	// Processes: significant at the root alone.
	"Comm_spawn.argv":                       "o_at_root(comm, root) ? 0 : -1",
	"Comm_spawn.array_of_errcodes":          "o_at_root(comm, root) ? maxprocs : -1",
	"array_of_commands":                     "o_at_root(comm, root) ? count : -1",
	"array_of_argv":                         "o_at_root(comm, root) ? count : -1",
	"array_of_maxprocs":                     "o_at_root(comm, root) ? count : -1",
	"array_of_info":                         "o_at_root(comm, root) ? count : -1",
	"Comm_spawn_multiple.array_of_errcodes": "o_at_root(comm, root) ? o_sum(array_of_maxprocs, count) : -1",
	"Info_create_env.argv":                  "argc",

	// The tools interface.
	"T_category_get_cvars.indices":            "o_least(len, o_category(cat_index, 0))",
	"T_category_get_pvars.indices":            "o_least(len, o_category(cat_index, 1))",
	"T_category_get_categories.indices":       "o_least(len, o_category(cat_index, 2))",
	"T_category_get_events.indices":           "o_least(len, o_category(cat_index, 3))",
	"T_event_get_info.array_of_datatypes":     "num_elements ? *num_elements : 0",
	"T_event_get_info.array_of_displacements": "num_elements ? *num_elements : 0",
}

// Vector collectives: the counts, displacements and types of what is sent and
// what is received. Forms are the name without its leading "I" or trailing
// "_init".
var vectorLengths = map[string]struct{ send, recv string }{
	"gatherv":             {"", "o_at_root(comm, root) ? o_size(comm) : -1"},
	"scatterv":            {"o_at_root(comm, root) ? o_size(comm) : -1", ""},
	"allgatherv":          {"", "o_size(comm)"},
	"alltoallv":           {"sendbuf == MPI_IN_PLACE ? -1 : o_size(comm)", "o_size(comm)"},
	"alltoallw":           {"sendbuf == MPI_IN_PLACE ? -1 : o_size(comm)", "o_size(comm)"},
	"reduce_scatter":      {"", "o_local_size(comm)"},
	"neighbor_allgatherv": {"", "o_degree(comm, 0)"},
	"neighbor_alltoallv":  {"o_degree(comm, 1)", "o_degree(comm, 0)"},
	"neighbor_alltoallw":  {"o_degree(comm, 1)", "o_degree(comm, 0)"},
}

// inputArrays are read by the call although mpi.h doesn't say const.
var inputArrays = set(
	"Request_get_status_all.array_of_requests", "Request_get_status_any.array_of_requests", "Request_get_status_some.array_of_requests",
	"Startall.array_of_requests", "Pready_list.array_of_partitions", "Pready_list.partition_list",
	"Type_struct.array_of_blocklengths", "Type_struct.array_of_displacements", "Type_struct.array_of_types",
	"Type_hindexed.array_of_blocklengths", "Type_hindexed.array_of_displacements",
)

// inoutArrays are read and written.
var inoutArrays = set(
	"Dims_create.dims",
	"Testall.array_of_requests", "Testany.array_of_requests", "Testsome.array_of_requests",
	"Waitall.array_of_requests", "Waitany.array_of_requests", "Waitsome.array_of_requests",
)

// setPointers are void * parameters that are the address of a pointer which
// the call sets.
var setPointers = set(
	"Attr_get.attribute_val", "Comm_get_attr.attribute_val", "Type_get_attr.attribute_val",
	"Win_get_attr.attribute_val",
	"Alloc_mem.baseptr", "Win_allocate.baseptr", "Win_allocate_shared.baseptr", "Win_shared_query.baseptr",
	"Win_allocate_c.baseptr", "Win_allocate_shared_c.baseptr", "Win_shared_query_c.baseptr",
	"Comm_detach_buffer.buffer_addr", "Comm_detach_buffer_c.buffer_addr",
	"Session_detach_buffer.buffer_addr", "Session_detach_buffer_c.buffer_addr",
	"Buffer_detach.buffer", "Buffer_detach.buffer_addr", "Buffer_detach_c.buffer_addr",
)

// writtenStatuses are operands that the program fills and the call changes.
var writtenStatuses = set("Status_set_elements.status", "Status_set_elements_x.status", "Status_set_elements_c.status",
	"Status_set_cancelled.status", "Status_set_source.status", "Status_set_tag.status", "Status_set_error.status")

// stringUnless says when an output string is not written although the call
// succeeds, as a C condition for when it is.
var stringIf = map[string]string{
	"Info_get.value":          "*flag",
	"Info_get_string.value":   "*flag && *buflen > 0",
	"name":                    "name_len && *name_len > 0",
	"desc":                    "desc_len && *desc_len > 0",
	"Get_processor_name.name": "1",
}

func set(names ...string) map[string]bool {
	m := make(map[string]bool)
	for _, n := range names {
		m[n] = true
	}
	return m
}
