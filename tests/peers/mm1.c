/* An M/M/1 queue in order of arrival, in plain C: what an engine written for one model alone costs.
 *
 *     cc -O3 -o mm1 mm1.c -lm
 *     ./mm1 lindley|events MESSAGES LOAD SEED
 *
 * Prints the messages served, their mean wait in mean service times, and the seconds of processor time.
 *
 * lindley  D. V. Lindley (1952): the wait of a message from that of the one before; no events, no queue.
 * events   what a simulator of discrete events does: a heap of events by their times, a queue of arrival times.
 *
 * Either draws two exponential numbers a message by inversion, from splitmix64 (Steele, Lea and Flood 2014).
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static uint64_t state;

static double exponential(double mean)
{
    uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    /* In (0, 1], so that the logarithm is finite. */
    return -mean * log((double)((z >> 11) + 1) * 0x1p-53);
}

static double lindley(uint64_t messages, double load)
{
    double wait = 0, sum = 0;
    for (uint64_t i = 0; i < messages; i++) {
        sum += wait;
        wait += exponential(1) - exponential(1 / load);
        wait = wait > 0 ? wait : 0;
    }
    return sum / (double)messages;
}

enum kind { ARRIVAL, DEPARTURE };

struct event {
    double at;
    enum kind kind;
};

/* The heap: at most an arrival and a departure, but it does not rely on that. */
static struct event heap[64];
static size_t events;

static void schedule(double at, enum kind kind)
{
    size_t i = events++;
    for (; i > 0 && heap[(i - 1) / 2].at > at; i = (i - 1) / 2)
        heap[i] = heap[(i - 1) / 2];
    heap[i] = (struct event){at, kind};
}

static struct event next_event(void)
{
    struct event first = heap[0], last = heap[--events];
    size_t i = 0;
    for (size_t child; (child = 2 * i + 1) < events; i = child) {
        child += child + 1 < events && heap[child + 1].at < heap[child].at;
        if (heap[child].at >= last.at)
            break;
        heap[i] = heap[child];
    }
    heap[i] = last;
    return first;
}

/* The queue: a ring of arrival times, whose size is a power of two. */
static double *ring;
static size_t size, head, waiting;

static void enqueue(double arrival)
{
    if (waiting == size) {
        size_t larger = size ? 2 * size : 64;
        double *grown = malloc(larger * sizeof *grown);
        if (!grown) {
            fputs("error: no memory for the queue\n", stderr);
            exit(1);
        }
        for (size_t i = 0; i < waiting; i++)
            grown[i] = ring[(head + i) & (size - 1)];
        free(ring);
        ring = grown, size = larger, head = 0;
    }
    ring[(head + waiting++) & (size - 1)] = arrival;
}

static double dequeue(void)
{
    double arrival = ring[head];
    head = (head + 1) & (size - 1);
    waiting--;
    return arrival;
}

static double event_loop(uint64_t messages, double load)
{
    double sum = 0;
    uint64_t begun = 0;
    int busy = 0;
    schedule(exponential(1 / load), ARRIVAL);
    while (begun < messages) {
        struct event event = next_event();
        if (event.kind == ARRIVAL) {
            enqueue(event.at);
            schedule(event.at + exponential(1 / load), ARRIVAL);
        } else {
            busy = 0;
        }
        if (!busy && waiting) {
            sum += event.at - dequeue();
            begun++;
            busy = 1;
            schedule(event.at + exponential(1), DEPARTURE);
        }
    }
    return sum / (double)messages;
}

int main(int count, char **given)
{
    if (count != 5 || (strcmp(given[1], "lindley") && strcmp(given[1], "events"))) {
        fputs("usage: mm1 lindley|events MESSAGES LOAD SEED\n", stderr);
        return 2;
    }
    uint64_t messages = strtoull(given[2], NULL, 10);
    double load = strtod(given[3], NULL);
    if (messages == 0 || !(load > 0 && load < 1)) {
        fputs("error: messages must be at least 1, and load above 0 and below 1\n", stderr);
        return 2;
    }
    state = strtoull(given[4], NULL, 10);
    clock_t began = clock();
    double wait = strcmp(given[1], "lindley") ? event_loop(messages, load) : lindley(messages, load);
    double seconds = (double)(clock() - began) / CLOCKS_PER_SEC;
    printf("%llu %.9g %.6f\n", (unsigned long long)messages, wait, seconds);
    return 0;
}
