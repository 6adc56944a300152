/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tracepoints without effect
 */
#ifndef SHIM_TRACEPOINT_H
#define SHIM_TRACEPOINT_H

#define TP_PROTO(...)		__VA_ARGS__
#define TRACE_DEFINE_ENUM(x)

#define TRACE_EVENT(name, proto, ...) \
static inline void trace_##name(proto) \
{ \
}

#define DECLARE_EVENT_CLASS(...)
#define DEFINE_EVENT(class, name, proto, ...) \
static inline void trace_##name(proto) \
{ \
}

#endif
