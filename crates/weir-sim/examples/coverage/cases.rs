//! The cases of the study: scenarios without their `stop`, how long a run is, how long the one that gives the truth, and
//! the figures that are examined. The first nine are such as users have run too short; the others have heavy tails,
//! bursts, other disciplines, networks with and without loss, a fabric, and nodes.

/// A figure: its discipline, what it is about by the keys of a row, its metric and statistic.
pub(crate) struct Fig {
    pub(crate) discipline: &'static str,
    pub(crate) about: &'static [(&'static str, &'static str)],
    pub(crate) metric: &'static str,
    pub(crate) statistic: &'static str,
}

impl Fig {
    pub(crate) fn name(&self) -> String {
        let about: Vec<&str> =
            self.about.iter().map(|(_, value)| *value).filter(|value| *value != "all").collect();
        let about = if about.is_empty() { String::new() } else { format!(" {}", about.join(" ")) };
        format!("{}{about} {} {}", self.discipline, self.metric, self.statistic)
    }
}

/// A case.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) scenario: &'static str,
    pub(crate) stop: &'static str,
    pub(crate) long: &'static str,
    pub(crate) figures: &'static [Fig],
}

const ALL: &[(&str, &str)] = &[("class", "all")];
const CLASS: &[(&str, &str)] = &[("kind", "class"), ("name", "all")];

const fn fig(
    discipline: &'static str,
    about: &'static [(&'static str, &'static str)],
    metric: &'static str,
    statistic: &'static str,
) -> Fig {
    Fig { discipline, about, metric, statistic }
}

const FIFO: &[Fig] = &[
    fig("fifo", ALL, "latency", "mean"),
    fig("fifo", ALL, "latency", "p99"),
    fig("fifo", ALL, "latency", "p99.9"),
];
const WHOLE: &[Fig] = &[
    fig("fifo", ALL, "response", "mean"),
    fig("fifo", ALL, "response", "p99"),
    fig("fifo", ALL, "response", "p99.9"),
];
const SEVERAL: &[Fig] = &[
    fig("fifo", ALL, "latency", "mean"),
    fig("fifo", ALL, "latency", "p99"),
    fig("fifo", ALL, "latency", "p99.9"),
    fig("alpha:10", ALL, "latency", "mean"),
    fig("alpha:10", ALL, "latency", "p99"),
    fig("sf", ALL, "latency", "mean"),
    fig("sf", &[("class", "1pkt")], "latency", "mean"),
    fig("sf", ALL, "latency", "p99"),
    fig("sf", ALL, "latency", "p99.9"),
];
const SERVER: &[Fig] = &[
    fig("cfcfs", CLASS, "delay", "mean"),
    fig("cfcfs", CLASS, "delay", "p99"),
    fig("cfcfs", CLASS, "delay", "p99.9"),
    fig("random", CLASS, "delay", "mean"),
    fig("random", CLASS, "delay", "p99"),
    fig("random", CLASS, "delay", "p99.9"),
];
const FLOWS: &[(&str, &str)] = &[("scope", "flow"), ("name", "a"), ("interval", "all")];
const NETWORK: &[Fig] = &[
    fig("fifo:20pkt", FLOWS, "delay", "mean"),
    fig("fifo:20pkt", FLOWS, "delay", "p99"),
    fig("fifo:20pkt", FLOWS, "loss", "mean"),
    fig("fifo:20pkt", FLOWS, "throughput", "mean"),
];
const FREE: &[Fig] = &[
    fig("fifo", FLOWS, "delay", "mean"),
    fig("fifo", FLOWS, "delay", "p99"),
    fig("fifo", FLOWS, "delay", "p99.9"),
];
const CHANNEL: &[(&str, &str)] = &[("channel", "a"), ("load", "0.6")];
const FABRIC: &[Fig] = &[
    fig("drr:weights=2/1", CHANNEL, "latency", "mean"),
    fig("drr:weights=2/1", CHANNEL, "latency", "p99"),
    fig("drr:weights=2/1", CHANNEL, "latency", "max"),
    fig("drr:weights=2/1", CHANNEL, "throughput", "mean"),
];
const PROCESS: &[(&str, &str)] = &[("kind", "process"), ("name", "a")];
const NODE: &[Fig] = &[
    fig("stride", PROCESS, "response", "mean"),
    fig("stride", PROCESS, "response", "p99"),
    fig("stride", PROCESS, "share", "mean"),
];

/// All of them.
pub(crate) const CASES: &[Case] = &[
    Case {
        name: "report 0.8, 200 k",
        scenario: "model = \"port\"\ndisciplines = [\"fifo\", \"alpha:10\", \"sf\"]\n[workload]\nload = 0.8",
        stop: "packets = 200_000",
        long: "packets = 400_000_000\nreplications = 8",
        figures: SEVERAL,
    },
    Case {
        name: "report 0.95, 200 k",
        scenario: "model = \"port\"\ndisciplines = [\"fifo\", \"alpha:10\", \"sf\"]\n[workload]\nload = 0.95",
        stop: "packets = 200_000",
        long: "packets = 400_000_000\nreplications = 8",
        figures: SEVERAL,
    },
    Case {
        name: "bursty 0.7, 200 k",
        scenario: "model = \"port\"\ndisciplines = [\"fifo\"]\n[workload]\nload = 0.7\n\
                   arrivals = { bursty = { peak = 4.0, burst = 20.0 } }",
        stop: "packets = 200_000",
        long: "packets = 200_000_000\nreplications = 8",
        figures: FIFO,
    },
    Case {
        name: "M/M/1 0.9, 20 k",
        scenario: "model = \"port\"\ndisciplines = [\"fifo\"]\n[workload]\nload = 0.9\n\
                   lengths = { exponential = \"1000B\" }\n[service]\nrate = \"1Gbit\"",
        stop: "messages = 20_000",
        long: "messages = 100_000_000\nreplications = 8",
        figures: WHOLE,
    },
    Case {
        name: "W4 0.9, 200 k",
        scenario: "model = \"port\"\ndisciplines = [\"fifo\"]\n[workload]\nload = 0.9\n\
                   lengths = { cdf = \"data/sizes/homa-w4.csv\" }\npacket = \"1460B\"\n[service]\nrate = \"10Gbit\"",
        stop: "packets = 200_000",
        long: "packets = 400_000_000\nreplications = 8",
        figures: FIFO,
    },
    Case {
        name: "W3 0.9, 200 k",
        scenario: "model = \"port\"\ndisciplines = [\"fifo\"]\n[workload]\nload = 0.9\n\
                   lengths = { cdf = \"data/sizes/homa-w3.csv\" }\npacket = \"1460B\"\n[service]\nrate = \"10Gbit\"",
        stop: "packets = 200_000",
        long: "packets = 400_000_000\nreplications = 8",
        figures: FIFO,
    },
    Case {
        name: "server 0.85, 200 k",
        scenario: SERVER_EXPONENTIAL,
        stop: "requests = 200_000",
        long: "requests = 80_000_000\nreplications = 8",
        figures: SERVER,
    },
    Case {
        name: "server 0.85, 1 M",
        scenario: SERVER_EXPONENTIAL,
        stop: "requests = 1_000_000",
        long: "requests = 80_000_000\nreplications = 8",
        figures: SERVER,
    },
    Case {
        name: "server 0.85, 4 M",
        scenario: SERVER_EXPONENTIAL,
        stop: "requests = 4_000_000",
        long: "requests = 80_000_000\nreplications = 8",
        figures: SERVER,
    },
    Case {
        name: "report 0.8, 4 M",
        scenario: "model = \"port\"\ndisciplines = [\"fifo\", \"alpha:10\", \"sf\"]\n[workload]\nload = 0.8",
        stop: "packets = 4_000_000",
        long: "packets = 400_000_000\nreplications = 8",
        figures: SEVERAL,
    },
    Case {
        name: "report 0.6, 1 M in 4",
        scenario: "model = \"port\"\ndisciplines = [\"fifo\", \"alpha:10\", \"sf\"]\n[workload]\nload = 0.6",
        stop: "packets = 1_000_000\nreplications = 4",
        long: "packets = 200_000_000\nreplications = 8",
        figures: SEVERAL,
    },
    Case {
        name: "M/M/1 0.5, 400 k in 8",
        scenario: "model = \"port\"\ndisciplines = [\"fifo\"]\n[workload]\nload = 0.5\n\
                   lengths = { exponential = \"1000B\" }\n[service]\nrate = \"1Gbit\"",
        stop: "messages = 400_000\nreplications = 8",
        long: "messages = 100_000_000\nreplications = 8",
        figures: WHOLE,
    },
    Case {
        name: "W1 0.5, 1 M",
        scenario: "model = \"port\"\ndisciplines = [\"fifo\"]\n[workload]\nload = 0.5\n\
                   lengths = { cdf = \"data/sizes/homa-w1.csv\" }\n[service]\nrate = \"100Mbit\"",
        stop: "messages = 1_000_000",
        long: "messages = 100_000_000\nreplications = 8",
        figures: WHOLE,
    },
    Case {
        name: "bursty 0.5, 4 M",
        scenario: "model = \"port\"\ndisciplines = [\"fifo\"]\n[workload]\nload = 0.5\n\
                   arrivals = { bursty = { peak = 4.0, burst = 20.0 } }",
        stop: "packets = 4_000_000",
        long: "packets = 200_000_000\nreplications = 8",
        figures: FIFO,
    },
    Case {
        name: "server bimodal 0.7, 500 k",
        scenario: "model = \"server\"\ndisciplines = [\"cfcfs\", \"random\"]\n[server]\ncores = 4\nqueue = \"unbounded\"\n\
                   [[class]]\nname = \"a\"\nservice = { mixture = [[\"1us\", 0.99], [\"100us\", 0.01]] }\n\
                   [workload]\nload = 0.7",
        stop: "requests = 500_000",
        long: "requests = 80_000_000\nreplications = 8",
        figures: SERVER,
    },
    Case {
        name: "server uniform 0.6, 200 k",
        scenario: "model = \"server\"\ndisciplines = [\"cfcfs\", \"random\"]\n[server]\ncores = 4\nqueue = \"unbounded\"\n\
                   [[class]]\nname = \"a\"\nservice = { uniform = [\"1us\", \"9us\"] }\n[workload]\nload = 0.6",
        stop: "requests = 200_000",
        long: "requests = 40_000_000\nreplications = 8",
        figures: SERVER,
    },
    Case {
        name: "network with loss, 60 s",
        scenario: "model = \"network\"\ndisciplines = [\"fifo:limit=20pkt\"]\n[network]\nhosts = [\"x\", \"y\"]\n\
                   [[link]]\nname = \"l\"\nbetween = [\"x\", \"y\"]\nrate = \"1Mbit\"\n\
                   [[flow]]\nname = \"a\"\nfrom = \"x\"\nto = \"y\"\ngap = { exponential = \"10ms\" }\nsize = { uniform = [\"64B\", \"1500B\"] }\n\
                   [[flow]]\nname = \"b\"\nfrom = \"x\"\nto = \"y\"\ngap = { exponential = \"20ms\" }\nsize = \"500B\"\n\
                   [measure]\nflows = true",
        stop: "warm_up = \"2s\"\nduration = \"62s\"\nreplications = 8",
        long: "warm_up = \"2s\"\nduration = \"2002s\"\nreplications = 100",
        figures: NETWORK,
    },
    Case {
        name: "network 0.6, 60 s",
        scenario: "model = \"network\"\ndisciplines = [\"fifo\"]\n[network]\nhosts = [\"x\", \"y\"]\n\
                   [[link]]\nname = \"l\"\nbetween = [\"x\", \"y\"]\nrate = \"2Mbit\"\n\
                   [[flow]]\nname = \"a\"\nfrom = \"x\"\nto = \"y\"\ngap = { exponential = \"5ms\" }\nsize = { uniform = [\"64B\", \"1400B\"] }\n\
                   [measure]\nflows = true",
        stop: "warm_up = \"2s\"\nduration = \"62s\"\nreplications = 8",
        long: "warm_up = \"2s\"\nduration = \"2002s\"\nreplications = 100",
        figures: FREE,
    },
    Case {
        name: "fabric 0.6, 400 us",
        scenario: "model = \"fabric\"\ndisciplines = [\"drr:quantum=2048B,weights=2/1\"]\n\
                   fabric.topology = { tree = { arity = 2, levels = 2 } }\n\
                   [[channel]]\nname = \"a\"\n[[channel]]\nname = \"b\"\nshare = 3\nsize = { constant = \"256B\" }\n\
                   [traffic]\nload = 0.6",
        stop: "warm_up = \"50us\"\nduration = \"450us\"\nreplications = 10",
        // Maxima grow with the length of a run, so the truth is that of many runs of this length.
        long: "warm_up = \"50us\"\nduration = \"450us\"\nreplications = 4000",
        figures: FABRIC,
    },
    Case {
        name: "node, 20 s",
        scenario: "model = \"node\"\ndisciplines = [\"stride\"]\n\
                   [[process]]\nname = \"a\"\nprogram = \"loop { sleep exponential(10ms); compute exponential(3ms) }\"\n\
                   [[process]]\nname = \"b\"\ncount = 2\nprogram = \"loop { sleep exponential(20ms); compute exponential(6ms) }\"",
        stop: "warm_up = \"1s\"\nduration = \"21s\"\nreplications = 8",
        long: "warm_up = \"1s\"\nduration = \"2001s\"\nreplications = 50",
        figures: NODE,
    },
];

const SERVER_EXPONENTIAL: &str = "model = \"server\"\ndisciplines = [\"cfcfs\", \"random\"]\n[server]\ncores = 4\nqueue = \"unbounded\"\n\
                                  [[class]]\nname = \"a\"\nservice = { exponential = \"10us\" }\n[workload]\nload = 0.85";
