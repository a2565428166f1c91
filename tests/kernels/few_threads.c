/* In front of the system's pthread_create: lets a number of threads more than now live at a time, and refuses others as
 * the system does at its limits. Knows the most that lived at a time. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static int base = 0;
static atomic_int allowed = INT_MAX, alive = 0, most = 0;

void allow_threads(int n) {
    base = atomic_load(&alive);
    atomic_store(&allowed, base + n);
    atomic_store(&most, base);
}

int most_threads(void) { return atomic_load(&most) - base; }

typedef struct {
    void* (*run)(void*);
    void* argument;
} Call;

static void* count_and_run(void* given) {
    Call call = *(Call*)given;
    free(given);
    void* result = call.run(call.argument);
    atomic_fetch_sub(&alive, 1);
    return result;
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*), void* argument) {
    typedef int Create(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
    int now = atomic_fetch_add(&alive, 1) + 1, before = atomic_load(&most);
    if (now > atomic_load(&allowed)) {
        atomic_fetch_sub(&alive, 1);
        return EAGAIN;
    }
    while (before < now && !atomic_compare_exchange_weak(&most, &before, now)) {
    }
    Call* call = malloc(sizeof(Call));
    *call = (Call){run, argument};
    return ((Create*)dlsym(RTLD_NEXT, "pthread_create"))(thread, attributes, count_and_run, call);
}
