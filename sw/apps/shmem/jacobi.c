// SPDX-License-Identifier: Apache-2.0
// See jacobi.h. Halos are received where the next kernel reads them: a receive is posted while the
// kernel before it works, and the neighbour sends when it has had this server's residual behind that.
#include "sw/apps/shmem/jacobi.h"

#include <stdio.h>
#include <string.h>

#include "sw/apps/ranks.h"

typedef struct run {
  const jacobi_parameters_t* p;
  server_program_t server;
  jacobi_result_t* result;
} run_t;

// The server on a side; UINT32_MAX: there is none.
static uint32_t neighbour(const run_t* run, uint32_t side) {
  const stretto_cluster_options_t* o = &run->p->server.cluster;
  if (side == JACOBI_ABOVE) return o->server == 0 ? UINT32_MAX : o->server - 1;
  return o->server + 1 == o->servers ? UINT32_MAX : o->server + 1;
}

static uint32_t row_bytes(const run_t* run) { return 4 * run->p->arguments.columns; }

// Halos of iteration `iteration`, if there will be one behind it.
static stretto_status_t receive(run_t* run, uint32_t iteration) {
  const jacobi_arguments_t* g = &run->p->arguments;
  if (iteration > g->iterations) return STRETTO_OK;
  for (uint32_t side = 0; side < JACOBI_SIDES; ++side)
    if (neighbour(run, side) != UINT32_MAX)
      TRY(of_cluster(stretto_cluster_receive(&run->server.cluster, neighbour(run, side),
                                             g->halo[iteration % 2][side], row_bytes(run))));
  return STRETTO_OK;
}

// Edges to the neighbours, halos from them.
static stretto_status_t exchange(run_t* run, uint32_t iteration) {
  const jacobi_arguments_t* g = &run->p->arguments;
  uint32_t open = 0;
  for (uint32_t side = 0; side < JACOBI_SIDES; ++side) {
    if (neighbour(run, side) == UINT32_MAX) continue;
    TRY(of_cluster(stretto_cluster_send(&run->server.cluster, neighbour(run, side),
                                        g->edge[iteration % 2][side], row_bytes(run))));
    open += 2;
  }
  for (; open != 0; --open) {
    stretto_nic_completion_t completion;
    stretto_cluster_wait(&run->server.cluster, &completion);
    if (completion.status != STRETTO_NIC_OK || completion.bytes != row_bytes(run)) {
      snprintf(run->server.cluster.error, sizeof run->server.cluster.error,
               "halo of iteration %u: %s", iteration, stretto_nic_status_text(completion.status));
      return STRETTO_ERROR_STATE;
    }
    *(completion.opcode == STRETTO_NIC_RECEIVE ? &run->result->received : &run->result->sent) += 1;
  }
  return STRETTO_OK;
}

// The sum over servers in their order, FP32: bits of a number.
static stretto_status_t reduce(run_t* run, uint32_t own, uint32_t* sum) {
  uint32_t bits[STRETTO_CLUSTER_SERVERS];
  TRY(of_cluster(stretto_cluster_exchange(&run->server.cluster, own, bits)));
  float all = 0;
  for (uint32_t i = 0; i < run->p->server.cluster.servers; ++i) {
    float one;
    memcpy(&one, &bits[i], sizeof one);
    all += one;
  }
  memcpy(sum, &all, sizeof *sum);
  return STRETTO_OK;
}

// Rows of a host's sweep, with the columns that do not change.
typedef struct rows {
  float above[JACOBI_MAX_COLUMNS], here[JACOBI_MAX_COLUMNS + 2], below[JACOBI_MAX_COLUMNS];
  float next[JACOBI_MAX_COLUMNS];
  float factor;
} rows_t;

// Row `row` of the iteration; adds to the residual of its work-group, in the order of jacobi.h.
static void sweep_row(const run_t* run, uint32_t iteration, uint32_t row, rows_t* r, float* sum) {
  const jacobi_arguments_t* g = &run->p->arguments;
  const stretto_host_ops_t* ops = run->server.ops;
  const uint32_t from = (iteration - 1) % 2, to = iteration % 2, chunk = JACOBI_CHUNK_BYTES / 4;
  const uint64_t at = g->grid[from] + (uint64_t)row * g->pitch;
  ops->peek(ops->context, row == 0 ? g->halo[from][JACOBI_ABOVE] : at - g->pitch, r->above,
            row_bytes(run));
  ops->peek(ops->context, at - 4, r->here, row_bytes(run) + 8);
  ops->peek(ops->context, row + 1 == g->rows ? g->halo[from][JACOBI_BELOW] : at + g->pitch,
            r->below, row_bytes(run));
  for (uint32_t begin = 0; begin < g->columns; begin += chunk) {
    float piece = 0;
    for (uint32_t i = begin; i < g->columns && i < begin + chunk; ++i) {
      r->next[i] = ((r->above[i] + r->below[i]) + (r->here[i] + r->here[i + 2])) * r->factor;
      const float change = r->next[i] - r->here[i + 1];
      piece += change * change;
    }
    *sum += piece;
  }
  ops->poke(ops->context, g->grid[to] + (uint64_t)row * g->pitch, r->next, row_bytes(run));
  if (row == 0) ops->poke(ops->context, g->edge[to][JACOBI_ABOVE], r->next, row_bytes(run));
  if (row + 1 == g->rows)
    ops->poke(ops->context, g->edge[to][JACOBI_BELOW], r->next, row_bytes(run));
}

// By the host. Bands and their order are those of the kernels, so residuals are equal, too.
static void sweep_here(const run_t* run, uint32_t iteration, uint32_t* own) {
  const jacobi_arguments_t* g = &run->p->arguments;
  const uint32_t bands = run->p->server.work_groups;
  rows_t rows;
  float all = 0;
  run->server.ops->peek(run->server.ops->context, g->factor, &rows.factor, sizeof rows.factor);
  for (uint32_t band = 0; band < bands; ++band) {
    const uint32_t end = (uint32_t)((uint64_t)g->rows * (band + 1) / bands);
    float sum = 0;
    for (uint32_t row = (uint32_t)((uint64_t)g->rows * band / bands); row < end; ++row)
      sweep_row(run, iteration, row, &rows, &sum);
    all += sum;
  }
  memcpy(own, &all, sizeof *own);
  // An element: four operations and three of the residual; read, its line fetched and written back.
  const uint64_t elements = (uint64_t)g->rows * g->columns;
  const uint64_t ns = host_compute_ns(run->p->compute, 7 * elements, 12 * elements, 8 * elements);
  run->server.ops->charge_cpu_ns(run->server.ops->context, ns);
}

static stretto_status_t sweep(run_t* run, uint32_t iteration) {
  const server_program_t* server = &run->server;
  const stretto_api_t* api = server->client->api;
  jacobi_arguments_t arguments = run->p->arguments;
  arguments.iteration = iteration;
  TRY(server_program_launch(&run->server, &arguments, sizeof arguments));
  TRY(api->copy(server->client, server->stream, run->p->word, arguments.residual, 8,
                STRETTO_ACCOUNT_OTHER));
  TRY(receive(run, iteration + 1));
  return api->stream_synchronize(server->client, server->stream);
}

// Copied behind the last sweep.
static uint32_t residual_of_gpu(const run_t* run) {
  uint64_t word = 0;
  run->server.ops->read(run->server.ops->context, run->p->word, &word, sizeof word);
  return (uint32_t)word;
}

static stretto_status_t relax(void* of_run) {
  run_t* run = of_run;
  const stretto_host_ops_t* ops = run->server.ops;
  jacobi_result_t* result = run->result;
  TRY(of_cluster(stretto_cluster_barrier(&run->server.cluster)));
  TRY(receive(run, 1));
  ops->charge_cpu_ns(ops->context, SHMEM_LIST_QUIET_NS);
  result->span.begin_ns = ops->now_ns(ops->context);
  for (uint32_t i = 1; i <= run->p->arguments.iterations; ++i) {
    uint32_t own = 0;
    jacobi_ended_t* ended = &result->ended[i - 1];
    if (run->p->compute != NULL) {
      TRY(receive(run, i + 1));
      sweep_here(run, i, &own);
    } else {
      TRY(sweep(run, i));
    }
    TRY(exchange(run, i));
    if (run->p->compute == NULL) own = residual_of_gpu(run);
    TRY(reduce(run, own, &ended->residual));
    ended->at_ns = ops->now_ns(ops->context);
    result->iterations = i;
    if (ended->residual < run->p->arguments.stop) break;
  }
  result->span.end_ns = ops->now_ns(ops->context);
  return of_cluster(stretto_cluster_barrier(&run->server.cluster));
}

stretto_status_t jacobi_run(const jacobi_parameters_t* p, const stretto_host_ops_t* ops,
                            jacobi_result_t* result, char* error) {
  run_t run = {.p = p, .result = result};
  return server_program_run(&run.server, &p->server, ops, relax, &run, error);
}
