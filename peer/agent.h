/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The agent's end: reads requests on `in`, answers on `out`, ends at EOF, at BYE or at a protocol error, and takes its
 * children with it. Commands: "gather" (facts; with "window_ms" also the second sample after that time), "probe" (light
 * active tests given as [{"dev":…,"addr":…}]), "sample" (second reading of counters, only what is new is sent).
 */
#ifndef SPARKFAB_PEER_AGENT_H
#define SPARKFAB_PEER_AGENT_H

/* Serves one session; returns the process's exit code. */
int agent_serve(int in, int out);

#endif
