// SPDX-License-Identifier: Apache-2.0
// Random programs over shmem.h against a sequential reference of the memory model (sw/include/MEMORY_MODEL.md).
//   shmem_random.so KERNELS.elf PROGRAMS SEED
// All PEs write the same program from a seed: operations in one order of all work-groups. An operation is taken only if
// the axioms order it behind all that it would race with, whatever the machine does: so what each load, get and atomic
// sees, and all words at the end, are those of that one order. Who knows of what:
//   - an event (a read or a write of words) that has ended is known to who did it: stores, loads, gets, atomics that
//     return at once; reads of a blocking put's source, too; the rest of puts, additions and _nbi at the quiet of their
//     context
//   - who waits for a signal knows its data, what its sender knew, and what the same context had sent to this PE
//     before a fence
//   - behind a barrier all who came to it know what any knew, with what this context had under way
#include <cuda_runtime.h>
#include <shmem.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tests/system/programs/must.h"
#include "tests/system/programs/shmem_random.h"

#define OK(call) MUST((call) == cudaSuccess)
#define AGENTS (RANDOM_PES * RANDOM_GROUPS)
#define EVENTS 320u
#define STEPS 110u
#define RANDOM_LONG 2000u   // Words.
#define RUNS 4u             // Of so many words, for one PE.
#define UNKNOWN UINT64_MAX  // What is noted depends on the order of additions.

typedef struct set {
  uint64_t bits[EVENTS / 64];
} set_t;

typedef struct word {
  uint64_t value;
  set_t writes;  // The last one,
  set_t reads;   // what has read since,
  set_t adds;    // and added.
} word_t;

typedef struct context {
  set_t under_way;                        // Until quiet.
  set_t sent[RANDOM_PES];                 // By PE, since the last fence,
  set_t fenced[RANDOM_PES];               // and before it.
  set_t told[RANDOM_PES][RANDOM_GROUPS];  // What a wait for the last signal gives.
  uint64_t signals[RANDOM_PES][RANDOM_GROUPS];
  uint64_t adds_at[RANDOM_PES][RANDOM_GROUPS];  // 1: signals are added.
  uint64_t waited[RANDOM_PES][RANDOM_GROUPS];
  int signal_open[RANDOM_PES][RANDOM_GROUPS];  // No fence since the last one.
} context_t;

typedef struct note {
  uint64_t value;
  uint32_t event;  // Of a fetch.
  uint32_t pe, at;
  int is_fetch;
} note_t;

typedef struct agent {
  set_t knows;
  context_t context[RANDOM_CONTEXTS];
  random_operation_t operations[RANDOM_OPERATIONS];
  uint32_t count;
  note_t notes[RANDOM_LOG];
  uint32_t noted;
} agent_t;

static agent_t agents[AGENTS];
static word_t words[RANDOM_PES][RANDOM_WORDS];
static uint64_t initial[RANDOM_PES][RANDOM_WORDS];
static uint32_t events, pes;
static uint64_t random_state;

static uint64_t next_random(void) {  // splitmix64
  uint64_t z = random_state += 0x9e3779b97f4a7c15;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return z ^ z >> 31;
}
static uint32_t below(uint32_t limit) { return (uint32_t)(next_random() % limit); }

// Sets

static void insert(set_t* set, uint32_t event) { set->bits[event / 64] |= 1ull << event % 64; }
static int has(const set_t* set, uint32_t event) { return set->bits[event / 64] >> event % 64 & 1; }
static void merge(set_t* set, const set_t* other) {
  for (unsigned i = 0; i < EVENTS / 64; ++i) set->bits[i] |= other->bits[i];
}
// Whether all of it is in one of two.
static int within(const set_t* set, const set_t* a, const set_t* b) {
  for (unsigned i = 0; i < EVENTS / 64; ++i)
    if ((set->bits[i] & ~(a->bits[i] | (b != NULL ? b->bits[i] : 0))) != 0) return 0;
  return 1;
}

// Words. `fenced`: what is ordered before the operation besides what its agent knows; null: nothing.

static int may_write(const word_t* word, const set_t* knows, const set_t* fenced) {
  return within(&word->writes, knows, fenced) && within(&word->reads, knows, NULL) &&
         within(&word->adds, knows, fenced);
}
static int may_read(const word_t* word, const set_t* knows) {
  return within(&word->writes, knows, NULL) && within(&word->adds, knows, NULL);
}
static int may_add(const word_t* word, const set_t* knows, const set_t* fenced) {
  return within(&word->writes, knows, fenced) && within(&word->reads, knows, NULL);
}
static void write_word(word_t* word, uint32_t event, uint64_t value) {
  memset(&word->writes, 0, 3 * sizeof(set_t));
  insert(&word->writes, event);
  word->value = value;
}

static void append(agent_t* agent, random_operation_t operation) {
  MUST(agent->count + 1 < RANDOM_OPERATIONS);
  agent->operations[agent->count++] = operation;
}
static void note(agent_t* agent, uint64_t value, int is_fetch, uint32_t event, uint32_t pe,
                 uint32_t at) {
  MUST(agent->noted < RANDOM_LOG);
  agent->notes[agent->noted++] = (note_t){value, event, pe, at, is_fetch};
}

// Fetches of the word that this addition may come before or behind: nobody knows what they bring.
static void blur(const agent_t* by, uint32_t pe, uint32_t at) {
  for (unsigned a = 0; a < AGENTS; ++a)
    for (uint32_t i = 0; i < agents[a].noted; ++i) {
      note_t* n = &agents[a].notes[i];
      if (n->is_fetch && n->pe == pe && n->at == at && !has(&by->knows, n->event))
        n->value = UNKNOWN;
    }
}

// Operations: each tries once, and returns whether it may be.

// The first of `count` words of which the last one is hot.
static uint32_t place(uint32_t count) { return RANDOM_WORDS - below(RANDOM_HOT) - count; }

// Where an operation goes, one of four to the own PE. Single words are the last ones of runs.
typedef struct where {
  uint32_t context, pe, at, from, count, group;
} where_t;

static where_t somewhere(uint32_t number) {
  where_t where = {.context = below(RANDOM_CONTEXTS), .group = below(RANDOM_GROUPS)};
  where.pe = (number / RANDOM_GROUPS + (below(4) == 0 ? 0 : 1 + below(pes - 1))) % pes;
  where.count = 1 + below(below(4) != 0 ? 3 : below(4) != 0 ? 9 : RANDOM_LONG);
  where.at = place(where.count);
  where.from = place(where.count);
  return where;
}

static int try_transfer(uint32_t number, random_kind_t kind, where_t w) {
  agent_t* agent = &agents[number];
  const uint32_t self = number / RANDOM_GROUPS, c = w.context, pe = w.pe, count = w.count;
  const uint32_t at = w.at, from = w.from, group = w.group;
  context_t* context = &agent->context[c];
  const int is_get = kind == RANDOM_GET || kind == RANDOM_GET_NBI;
  const int has_signal =
      kind == RANDOM_PUT_SIGNAL || kind == RANDOM_PUT_SIGNAL_NBI || kind == RANDOM_ADD_SIGNAL;
  const int waits = kind == RANDOM_PUT || kind == RANDOM_GET || kind == RANDOM_PUT_SIGNAL;
  uint64_t value = 0;
  if (pe == self && at < from + count && from < at + count) return 0;  // They may not overlap.
  for (uint32_t i = 0; i < count; ++i) {
    const word_t *there = &words[pe][at + i], *here = &words[self][from + i];
    if (is_get ? !may_read(there, &agent->knows) || !may_write(here, &agent->knows, NULL)
               : !may_write(there, &agent->knows, &context->fenced[pe]) ||
                     !may_read(here, &agent->knows))
      return 0;
  }
  if (has_signal) {
    const int adds = kind == RANDOM_ADD_SIGNAL;
    // Signals of one place are all set or all added, and set ones have a fence between them.
    if (context->signals[pe][group] != 0 &&
        ((int)context->adds_at[pe][group] != adds || (!adds && context->signal_open[pe][group])))
      return 0;
    // A wait for a sum tells of all that were added: none may be under way that was not waited for.
    if (adds && context->waited[pe][group] != context->signals[pe][group]) return 0;
    context->adds_at[pe][group] = (uint64_t)adds;
    context->signal_open[pe][group] = 1;
    value = ++context->signals[pe][group];
  }
  const uint32_t reads = events++, writes = events++;
  for (uint32_t i = 0; i < count; ++i) {
    word_t *there = &words[pe][at + i], *here = &words[self][from + i];
    word_t *source = is_get ? there : here, *target = is_get ? here : there;
    insert(&source->reads, reads);
    write_word(target, writes, source->value);
  }
  // At most 8 bytes of a put go with the entry.
  insert(waits ? &agent->knows : &context->under_way, reads);
  insert(waits && is_get ? &agent->knows : &context->under_way, writes);
  if (!is_get) insert(&context->sent[pe], writes);
  if (has_signal) {
    set_t* told = &context->told[pe][group];
    merge(told, &agent->knows);
    merge(told, &context->fenced[pe]);
    insert(told, writes);
  }
  const uint32_t signal = RANDOM_WORDS + (number * RANDOM_CONTEXTS + c) * RANDOM_GROUPS + group;
  append(agent, (random_operation_t){kind, c, pe, at, from, count, value, signal});
  return 1;
}

static int try_word(uint32_t number, random_kind_t kind, where_t w) {
  agent_t* agent = &agents[number];
  const int is_own = kind == RANDOM_STORE || kind == RANDOM_LOAD;
  const uint32_t c = w.context, at = w.at + w.count - 1;
  const uint32_t pe = is_own ? number / RANDOM_GROUPS : w.pe;
  context_t* context = &agent->context[c];
  const set_t* fenced = is_own ? NULL : &context->fenced[pe];
  word_t* word = &words[pe][at];
  const uint64_t before = word->value;
  uint64_t value = next_random() >> 1, other = 0;
  const uint32_t event = events;
  int ends = 1;
  switch (kind) {
    case RANDOM_STORE:
    case RANDOM_P:
      if (!may_write(word, &agent->knows, fenced)) return 0;
      write_word(word, event, value);
      ends = kind == RANDOM_STORE;
      break;
    case RANDOM_LOAD:
    case RANDOM_G:
      if (!may_read(word, &agent->knows)) return 0;
      insert(&word->reads, event);
      note(agent, before, 0, event, pe, at);
      break;
    case RANDOM_ADD:
    case RANDOM_FETCH_ADD:
      if (!may_add(word, &agent->knows, fenced)) return 0;
      blur(agent, pe, at);
      if (kind == RANDOM_FETCH_ADD)
        note(agent, within(&word->adds, &agent->knows, fenced) ? before : UNKNOWN, 1, event, pe,
             at);
      insert(&word->adds, event);
      word->value += value;
      ends = kind == RANDOM_FETCH_ADD;
      break;
    default:  // Swaps.
      if (!may_write(word, &agent->knows, NULL)) return 0;
      other = below(2) == 0 ? before : before + 1;
      note(agent, before, 0, event, pe, at);
      write_word(word, event, kind == RANDOM_SWAP || other == before ? value : before);
      break;
  }
  ++events;
  insert(ends ? &agent->knows : &context->under_way, event);
  if (!ends) insert(&context->sent[pe], event);
  append(agent, (random_operation_t){kind, c, pe, at, 0, 0, value, other});
  return 1;
}

// For the last signal of some context that was sent to it.
static int try_wait(uint32_t number, uint32_t sender, uint32_t c) {
  agent_t* agent = &agents[number];
  const uint32_t pe = number / RANDOM_GROUPS, group = number % RANDOM_GROUPS;
  context_t* context = &agents[sender].context[c];
  const uint64_t value = context->signals[pe][group];
  if (value == context->waited[pe][group]) return 0;
  context->waited[pe][group] = value;
  merge(&agent->knows, &context->told[pe][group]);
  const uint32_t signal = RANDOM_WORDS + (sender * RANDOM_CONTEXTS + c) * RANDOM_GROUPS + group;
  append(agent, (random_operation_t){RANDOM_WAIT, 0, 0, 0, 0, 0, value, signal});
  return 1;
}

static void fence(context_t* context) {
  for (uint32_t pe = 0; pe < pes; ++pe) {
    merge(&context->fenced[pe], &context->sent[pe]);
    memset(&context->sent[pe], 0, sizeof(set_t));
  }
  memset(context->signal_open, 0, sizeof context->signal_open);
}
static void quiet(agent_t* agent, context_t* context) {
  merge(&agent->knows, &context->under_way);
  memset(&context->under_way, 0, sizeof(set_t));
  fence(context);
}

static int try_order(uint32_t number, random_kind_t kind, uint32_t c) {
  set_t all = {{0}};
  for (uint32_t pe = 0; pe < pes; ++pe) {
    if (kind != RANDOM_BARRIER && pe != number / RANDOM_GROUPS) continue;
    agent_t* agent = &agents[pe * RANDOM_GROUPS + number % RANDOM_GROUPS];
    if (kind == RANDOM_FENCE)
      fence(&agent->context[c]);
    else
      quiet(agent, &agent->context[c]);
    merge(&all, &agent->knows);
    append(agent, (random_operation_t){kind, c, 0, 0, 0, 0, 0, 0});
  }
  for (uint32_t pe = 0; pe < pes && kind == RANDOM_BARRIER; ++pe)
    agents[pe * RANDOM_GROUPS + number % RANDOM_GROUPS].knows = all;
  return 1;
}

// Long runs to one place of another PE, quiet, a word for a third one, which looks at their end. Together they take
// longer than the word, its wait and the look.
static int try_story(uint32_t number) {
  where_t run = somewhere(number), word = somewhere(number);
  if (pes < 3) return 0;
  run.count = RANDOM_LONG;
  run.at = place(run.count), run.from = place(run.count);
  word.count = 1;  // It goes with the entry, so its NIC does not read it behind the run.
  word.at = place(1), word.from = place(1);
  word.context = run.context;
  const uint32_t self = number / RANDOM_GROUPS;
  if (word.pe == run.pe || run.pe == self || word.pe == self ||
      !try_transfer(number, RANDOM_PUT_NBI, run))
    return 0;
  for (unsigned i = 1; i < RUNS; ++i) {
    (void)try_order(number, RANDOM_FENCE, run.context);
    run.from = place(run.count);
    (void)try_transfer(number, RANDOM_PUT_NBI, run);
  }
  (void)try_order(number, RANDOM_QUIET, run.context);
  if (!try_transfer(number, RANDOM_PUT_SIGNAL_NBI, word)) return 1;
  const uint32_t second = word.pe * RANDOM_GROUPS + word.group;
  (void)try_wait(second, number, run.context);
  run.context = below(RANDOM_CONTEXTS);
  (void)try_word(second, RANDOM_G, run);
  return 1;
}

static int try_one(uint32_t number) {
  static const struct {
    random_kind_t kind;
    uint32_t weight;
  } weights[] = {{RANDOM_DELAY, 6},      {RANDOM_STORE, 12},     {RANDOM_LOAD, 14},
                 {RANDOM_PUT, 10},       {RANDOM_PUT_NBI, 14},   {RANDOM_P, 8},
                 {RANDOM_GET, 10},       {RANDOM_GET_NBI, 8},    {RANDOM_G, 6},
                 {RANDOM_ADD, 8},        {RANDOM_FETCH_ADD, 6},  {RANDOM_SWAP, 3},
                 {RANDOM_COMPARE, 4},    {RANDOM_PUT_SIGNAL, 6}, {RANDOM_PUT_SIGNAL_NBI, 12},
                 {RANDOM_ADD_SIGNAL, 6}, {RANDOM_WAIT, 40},      {RANDOM_FENCE, 6},
                 {RANDOM_QUIET, 5},      {RANDOM_BARRIER, 2},    {RANDOM_END, 2}};
  uint32_t sum = 0, chosen = 0;
  for (unsigned i = 0; i < sizeof weights / sizeof weights[0]; ++i) sum += weights[i].weight;
  uint32_t at = below(sum);
  while (at >= weights[chosen].weight) at -= weights[chosen++].weight;
  const random_kind_t kind = weights[chosen].kind;
  switch (kind) {
    case RANDOM_DELAY:
      append(&agents[number], (random_operation_t){.kind = RANDOM_DELAY, .value = 1u << below(11)});
      return 1;
    case RANDOM_END: return try_story(number);
    case RANDOM_WAIT: return try_wait(number, below(pes * RANDOM_GROUPS), below(RANDOM_CONTEXTS));
    case RANDOM_FENCE:
    case RANDOM_QUIET:
    case RANDOM_BARRIER: return try_order(number, kind, below(RANDOM_CONTEXTS));
    case RANDOM_PUT:
    case RANDOM_PUT_NBI:
    case RANDOM_GET:
    case RANDOM_GET_NBI:
    case RANDOM_PUT_SIGNAL:
    case RANDOM_PUT_SIGNAL_NBI:
    case RANDOM_ADD_SIGNAL: return try_transfer(number, kind, somewhere(number));
    default: return try_word(number, kind, somewhere(number));
  }
}

static void generate(uint64_t seed) {
  random_state = seed * 0x9e3779b97f4a7c15 + 0x5eed;
  memset(agents, 0, sizeof agents);
  memset(words, 0, sizeof words);
  events = 0;
  for (unsigned pe = 0; pe < RANDOM_PES; ++pe)
    for (unsigned i = 0; i < RANDOM_WORDS; ++i)
      words[pe][i].value = initial[pe][i] = next_random() >> 1;
  while (pes > 2 && !try_story(below(pes * RANDOM_GROUPS))) {
  }
  for (uint32_t step = 0; step < STEPS && events + 2 * RUNS + 4 < EVENTS; ++step)
    for (uint32_t tries = 0; tries < 30 && !try_one(below(pes * RANDOM_GROUPS)); ++tries) {
    }
}

static void print_program(void) {
  static const char* const names[RANDOM_KINDS] = {
      "end",        "delay",          "store",      "load", "put",       "put_nbi", "p",
      "get",        "get_nbi",        "g",          "add",  "fetch_add", "swap",    "compare_swap",
      "put_signal", "put_signal_nbi", "add_signal", "wait", "fence",     "quiet",   "barrier"};
  for (uint32_t a = 0; a < pes * RANDOM_GROUPS; ++a)
    for (uint32_t i = 0; i < agents[a].count; ++i) {
      const random_operation_t* o = &agents[a].operations[i];
      printf(
          "PE %u work-group %u: %s context %u PE %u at %u from %u count %u value %llx other %llu\n",
          a / RANDOM_GROUPS, a % RANDOM_GROUPS, names[o->kind], o->context, o->pe, (unsigned)o->at,
          (unsigned)o->from, (unsigned)o->count, (unsigned long long)o->value,
          (unsigned long long)o->other);
    }
}

static int differs(uint64_t got, uint64_t expected, uint64_t seed, unsigned pe, const char* what,
                   unsigned number) {
  if (got == expected) return 0;
  printf("seed %llu: PE %u: %s %u is %llx, must be %llx\n", (unsigned long long)seed, pe, what,
         number, (unsigned long long)got, (unsigned long long)expected);
  return 1;
}

int main(int argc, char** argv) {
  static uint64_t begin[RANDOM_WORDS + RANDOM_SIGNALS], end[RANDOM_WORDS];
  static uint64_t logs[RANDOM_GROUPS * RANDOM_LOG];
  random_arguments_t arguments;
  void* list[] = {&arguments};
  cudaLibrary_t library;
  cudaKernel_t kernel;
  MUST(argc == 4);
  const uint64_t first = strtoull(argv[3], NULL, 0), programs = strtoull(argv[2], NULL, 0);
  if (shmem_wg_init(&arguments.shmem, RANDOM_GROUPS * RANDOM_CONTEXTS) != 0) return 1;
  const unsigned self = (unsigned)shmem_my_pe();
  pes = (unsigned)shmem_n_pes();
  MUST(pes >= 2 && pes <= RANDOM_PES);
  OK(cudaLibraryLoadFromFile(&library, argv[1], NULL, NULL, 0, NULL, NULL, 0));
  OK(cudaLibraryGetKernel(&kernel, library, "random_operations"));
  arguments.words = shmem_malloc(sizeof begin);
  MUST(arguments.words != NULL);
  random_operation_t* operations = NULL;
  OK(cudaMalloc((void**)&operations, RANDOM_GROUPS * sizeof agents[0].operations));
  OK(cudaMalloc((void**)&arguments.log, sizeof logs));
  arguments.operations = operations;
  uint64_t checked = 0, done = 0;
  for (uint64_t seed = first; seed < first + programs; ++seed) {
    generate(seed);
    memcpy(begin, initial[self], sizeof initial[self]);
    OK(cudaMemcpy(arguments.words, begin, sizeof begin, cudaMemcpyHostToDevice));
    for (unsigned g = 0; g < RANDOM_GROUPS; ++g)
      OK(cudaMemcpy(operations + g * RANDOM_OPERATIONS, agents[self * RANDOM_GROUPS + g].operations,
                    sizeof agents[0].operations, cudaMemcpyHostToDevice));
    shmem_barrier_all();
    OK(cudaLaunchCooperativeKernel((const void*)kernel, (dim3){RANDOM_GROUPS, 1, 1},
                                   (dim3){1, 1, 1}, list, 0, NULL));
    OK(cudaDeviceSynchronize());
    shmem_barrier_all();
    OK(cudaMemcpy(end, arguments.words, sizeof end, cudaMemcpyDeviceToHost));
    OK(cudaMemcpy(logs, arguments.log, sizeof logs, cudaMemcpyDeviceToHost));
    int wrong = 0;
    for (unsigned i = 0; i < RANDOM_WORDS; ++i, ++checked)
      wrong |= differs(end[i], words[self][i].value, seed, self, "at the end word", i);
    for (unsigned g = 0; g < RANDOM_GROUPS; ++g) {
      const agent_t* agent = &agents[self * RANDOM_GROUPS + g];
      done += agent->count;
      for (uint32_t i = 0; i < agent->noted; ++i, ++checked)
        if (agent->notes[i].value != UNKNOWN)
          wrong |= differs(logs[g * RANDOM_LOG + i], agent->notes[i].value, seed, self,
                           g == 0 ? "of work-group 0 note" : "of work-group 1 note", i);
    }
    if (wrong) print_program();
    MUST(!wrong);
  }
  shmem_finalize();
  printf("PE %u of %u: %llu programs from seed %llu are right: %llu operations, %llu values\n",
         self, pes, (unsigned long long)programs, (unsigned long long)first,
         (unsigned long long)done, (unsigned long long)checked);
  return 0;
}
