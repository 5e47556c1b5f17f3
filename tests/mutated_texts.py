"""Texts that are mutated and stand in no document: data files, and scenarios that read them as ``x.csv``."""

PORT = """\
weir = 1
model = "port"
disciplines = ["fifo", "alpha:10", "sf"]
[workload]
"""
NETWORK = """\
weir = 1
model = "network"
disciplines = ["fifo", "sfq"]
[network]
hosts = ["a", "b"]
[[link]]
between = ["a", "b"]
rate = "10Mbit"
[[flow]]
from = "a"
to = "b"
[flow.trace]
file = "x.csv"
time = "t_ns"
size = "frame_bytes"
"""
SERVER = """\
weir = 1
model = "server"
disciplines = ["jsq", "cfcfs", "per_server(rr,discipline=sf)"]
[server]
cores = 2
[[class]]
name = "short"
[[class]]
name = "long"
[workload.trace]
file = "x.csv"
"""
NODE = """\
weir = 1
model = "node"
disciplines = ["epoch", "eevdf"]
[[process]]
name = "p"
need = "20ms"
replay = "x.csv"
"""
FABRIC = """\
weir = 1
model = "fabric"
disciplines = ["drr", "scfq"]
[fabric]
topology = { single = { ports = 4 } }
[[channel]]
name = "a"
size = { messages = "x.csv" }
[traffic]
load = 0.5
"""

OF_MESSAGES = (
    'trace = { file = "x.csv", time_unit = "s", length_unit = "pkt" }\n',
    """\
load = 0.7
trace = { file = "x.csv", time_unit = "ms", length_unit = "B" }
[service]
rate = "10Mbit"
""",
)
OF_TOKENS = """\
[workload.trace]
file = "x.csv"
time = "TIMESTAMP"
time_unit = "timestamp"
length = "ContextTokens"
length_unit = "tok"
[service]
per_token = "150us"
"""
OF_SIZES = """\
load = 0.7
lengths = { cdf = "x.csv" }
packet = "1460B"
[service]
rate = "10Gbit"
"""
OF_PACKETS = ('time_unit = "ns"\nkeep = { dir = "r" }\nrepeat = true\n', 'time_unit = "us"\n')
OF_REQUESTS = """\
time_unit = "s"
class = "kind"
service = { base = "1us", per_unit = { work = "1us" } }
"""
OF_TOKENS_OF_REQUESTS = """\
time = "TIMESTAMP"
time_unit = "timestamp"
service = { base = "5ms", per_unit = { ContextTokens = "0.2ms", GeneratedTokens = "20ms" } }
split = { column = "GeneratedTokens", at = [20] }
"""

MESSAGES = """\
# Messages of three applications.
time,length,class,flow,alpha
0,100,chat,a,1
0.5,300,chat,b,10
0.75,20,batch,a,1
0.75,2000,batch,c,0.5
1.25,1,chat,b,10
2,70,batch,c,0.5
3.5e0,64,chat,a,1
"""
TOKENS = """\
TIMESTAMP,ContextTokens,GeneratedTokens
2023-11-16 18:17:03.9799600,4808,10
2023-11-16 18:17:04.0319600,3180,8
2023-11-16 18:17:04.0781490,110,27
2023-11-16 18:17:05.0000000,7433,1
2023-11-16 18:17:09.2500000,34,400
"""
REQUESTS = """\
time,work,flow,kind
0,10,3,short
1e-3,2.5,4,long
0.001,400,3,long
0.5,0,1,short
0.75,90,2,short
"""
REPLAY = """\
wake_ms,run_us
# of a decoder
0,552.2
1.5,10
20,11
20,800
41.5,1e3
"""
TASKS = """\
{
  "tasks": {
    "w": {"instance": 2, "wait": {"ref": "go", "mutex": "m"}, "run": 1000, "cpus": [0, 1]},
    "b": {"policy": "SCHED_FIFO", "priority": 10, "broad": "go", "sleep": 9000,
          "sync": {"ref": "q", "mutex": "m"}},
    "c": {"phases": {"a": {"loop": 2, "run": 10, "timer": {"period": 50}}, "z": {"run": 20, "sleep": 80}}},
    "d": {"policy": "SCHED_DEADLINE", "dl-runtime": 3000, "dl-period": 10000, "run": 2500, "signal": "q"}
  },
  "global": {"duration": 1, "default_policy": "SCHED_OTHER"}
}
"""
