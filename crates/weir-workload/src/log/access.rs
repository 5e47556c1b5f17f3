//! Lines of access logs as rows of a table: the layout of the first line, which all others must have.

use crate::trace::Row;

/// Why a line is no row, and what to do.
pub(super) type Wrong = (String, &'static str);

const HEAD: [&str; 7] = ["remote_addr", "identity", "remote_user", "time", "request", "status", "bytes"];
const ENVOY_HEAD: [&str; 4] = ["time", "request", "status", "flags"];
/// What Istio writes behind the flags, the last in quotation marks.
const ENVOY_DETAILS: [&str; 3] = ["details", "termination", "failure"];
const ENVOY_TAIL: [&str; 4] = ["received", "sent", "duration", "upstream_service_time"];
const ENVOY_QUOTED: [&str; 5] = ["forwarded_for", "user_agent", "request_id", "authority", "upstream_host"];
const NO_ACCESS: &str = "write the common or combined format, or repair or remove the line";
const NO_ENVOY: &str = "write Envoy's default format, or repair or remove the line";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Bare,
    Bracketed,
    Quoted,
}

/// A part of a line, without what encloses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Token<'l> {
    kind: Kind,
    text: &'l str,
}

impl<'l> Token<'l> {
    /// The key and the value of `key=value`.
    fn pair(self) -> Option<(&'l str, &'l str)> {
        if self.kind != Kind::Bare {
            return None;
        }
        let (key, value) = self.text.split_once('=')?;
        let is_name = !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        is_name.then(|| (key, value.trim_matches('"')))
    }

    /// The value, without the key of a pair.
    fn value(self) -> &'l str {
        self.pair().map_or(self.text, |(_, value)| value)
    }

    /// Whether this is a number with a fraction, or several of them.
    fn is_decimal(self) -> bool {
        let is_number = |part: &str| part == "-" || part.parse::<f64>().is_ok();
        self.text.contains('.') && self.text.split([',', ':']).all(|part| is_number(part.trim()))
    }

    fn is_whole(self) -> bool {
        !self.text.is_empty() && self.text.bytes().all(|byte| byte.is_ascii_digit())
    }
}

/// What the lines of one log have in common.
#[derive(Debug)]
pub(super) struct Layout {
    kinds: Vec<Kind>,
    keys: Vec<Option<String>>,
    /// The columns, `method` and `path` the last two.
    pub(super) names: Vec<String>,
    remedy: &'static str,
}

impl Layout {
    /// Of the common or combined format.
    pub(super) fn access(line: &str) -> Result<Self, Wrong> {
        let tokens = tokens(line).map_err(|reason| (reason, NO_ACCESS))?;
        let kinds =
            [Kind::Bare, Kind::Bare, Kind::Bare, Kind::Bracketed, Kind::Quoted, Kind::Bare, Kind::Bare];
        let is_one = tokens.len() >= HEAD.len()
            && tokens.iter().zip(kinds).all(|(token, kind)| token.kind == kind)
            && tokens[5].is_whole();
        if !is_one {
            return Err(("the line is in neither the common nor the combined format".to_owned(), NO_ACCESS));
        }
        let mut names = HEAD.map(str::to_owned).to_vec();
        if tokens.len() >= 9 && tokens[7..9].iter().all(|token| token.kind == Kind::Quoted) {
            names.extend(["referer".to_owned(), "user_agent".to_owned()]);
        }
        let more = &tokens[names.len()..];
        extras(more, &mut names);
        Ok(Self::of(&tokens, names, NO_ACCESS))
    }

    /// Of Envoy's default format, or of Istio's.
    pub(super) fn envoy(line: &str) -> Result<Self, Wrong> {
        let tokens = tokens(line).map_err(|reason| (reason, NO_ENVOY))?;
        let kinds: Vec<Kind> = tokens.iter().map(|token| token.kind).collect();
        let head = [Kind::Bracketed, Kind::Quoted, Kind::Bare, Kind::Bare];
        let mut names = ENVOY_HEAD.map(str::to_owned).to_vec();
        if kinds.get(4..7) == Some(&[Kind::Bare, Kind::Bare, Kind::Quoted][..]) {
            names.extend(ENVOY_DETAILS.map(str::to_owned));
        }
        let tail = names.len()..names.len() + ENVOY_TAIL.len();
        let is_one = kinds.starts_with(&head) && kinds.get(tail) == Some(&[Kind::Bare; 4][..]);
        if !is_one {
            return Err(("the line is not in Envoy's default format".to_owned(), NO_ENVOY));
        }
        names.extend(ENVOY_TAIL.map(str::to_owned));
        let quoted = tokens[names.len()..].iter().take_while(|token| token.kind == Kind::Quoted).count();
        names.extend(ENVOY_QUOTED.iter().take(quoted).map(|name| (*name).to_owned()));
        let more = &tokens[names.len()..];
        extras(more, &mut names);
        Ok(Self::of(&tokens, names, NO_ENVOY))
    }

    fn of(tokens: &[Token<'_>], mut names: Vec<String>, remedy: &'static str) -> Self {
        let keys = tokens.iter().map(|token| token.pair().map(|(key, _)| key.to_owned())).collect();
        names.extend(["method".to_owned(), "path".to_owned()]);
        Self { kinds: tokens.iter().map(|token| token.kind).collect(), keys, names, remedy }
    }

    /// The fields of a line.
    pub(super) fn fill(&self, line: &str, row: &mut Row) -> Result<(), Wrong> {
        let tokens = tokens(line).map_err(|reason| (reason, self.remedy))?;
        if tokens.len() != self.kinds.len() {
            let reason =
                format!("the line has {} parts, must have {} like the first", tokens.len(), self.kinds.len());
            return Err((reason, self.remedy));
        }
        row.clear();
        for (place, token) in tokens.iter().enumerate() {
            let name = &self.names[place];
            let key = token.pair().map(|(key, _)| key);
            if token.kind != self.kinds[place] || key != self.keys[place].as_deref() {
                let reason = format!("part {} of the line is not `{name}` as in the first", place + 1);
                return Err((reason, self.remedy));
            }
            if name == "status" && !token.is_whole() {
                return Err((format!("the status is `{}`, must be a number", token.text), self.remedy));
            }
            row.push(token.value());
        }
        let request = self.names.iter().position(|name| name == "request").map_or("", |at| tokens[at].text);
        let (method, rest) = request.split_once(' ').unwrap_or((request, ""));
        let target = rest.split(' ').next().unwrap_or_default();
        row.push(method);
        row.push(target.split(['?', '#']).next().unwrap_or_default());
        Ok(())
    }
}

/// The names of what stands behind the format: those of keys; nginx's times, which are decimal, and Apache's, which are whole.
fn extras(tokens: &[Token<'_>], names: &mut Vec<String>) {
    let times = ["request_time", "upstream_response_time"];
    for token in tokens {
        let known = |name: &str| names.iter().any(|other| other == name);
        let free = times
            .iter()
            .find(|name| !known(name))
            .filter(|name| token.is_decimal() || token.text == "-" && **name == times[1]);
        let name = match (token.pair(), free) {
            (Some((key, _)), _) if !known(key) => key.to_owned(),
            (None, Some(name)) => (*name).to_owned(),
            (None, None) if token.is_whole() && !known("duration") => "duration".to_owned(),
            _ => format!("part{}", names.len() + 1),
        };
        names.push(name);
    }
}

/// The parts of a line, or why there are none.
fn tokens(line: &str) -> Result<Vec<Token<'_>>, String> {
    let mut tokens: Vec<Token<'_>> = Vec::with_capacity(16);
    let mut at = 0;
    while let Some(start) = line[at..].find(|c: char| !c.is_ascii_whitespace()).map(|skipped| at + skipped) {
        let rest = &line[start..];
        let (kind, inner) = match rest.as_bytes()[0] {
            b'"' => (Kind::Quoted, quoted(&rest[1..]).ok_or_else(|| unclosed("\""))?),
            b'[' => (Kind::Bracketed, rest[1..].find(']').ok_or_else(|| unclosed("["))?),
            _ => (Kind::Bare, bare(rest)),
        };
        let (from, end) = match kind {
            Kind::Bare => (start, start + inner),
            _ => (start + 1, start + inner + 2),
        };
        tokens.push(Token { kind, text: &line[from..from + inner] });
        at = end;
    }
    Ok(tokens)
}

fn unclosed(mark: &str) -> String {
    format!("a `{mark}` of the line is not closed")
}

/// Where a text in quotation marks ends; one with a backslash before it does not end it.
fn quoted(text: &str) -> Option<usize> {
    let mut is_escaped = false;
    text.bytes().position(|byte| {
        let ends = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        ends
    })
}

/// Where a part without marks around it ends: at a blank, but not within quotation marks (`urt="0.1, 0.2"`), nor after a comma or
/// around a colon, as nginx writes the times of several servers (`0.1, 0.2 : 0.3`).
fn bare(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut is_quoted = false;
    for (place, byte) in bytes.iter().enumerate() {
        is_quoted ^= *byte == b'"';
        if is_quoted || !byte.is_ascii_whitespace() {
            continue;
        }
        let goes_on = bytes[place - 1] == b','
            || bytes[place + 1..].starts_with(b": ")
            || text[..place].ends_with(" :");
        if !goes_on {
            return place;
        }
    }
    text.trim_end().len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(layout: &Layout, line: &str) -> Result<Vec<(String, String)>, String> {
        let mut row = Row::default();
        layout.fill(line, &mut row).map_err(|(reason, _)| reason)?;
        Ok(layout
            .names
            .iter()
            .enumerate()
            .map(|(at, name)| (name.clone(), row.field(at).to_owned()))
            .collect())
    }

    fn value(line: &str, layout: &Layout, name: &str) -> String {
        let found = row(layout, line).expect(line);
        found.into_iter().find(|(other, _)| other == name).expect(name).1
    }

    const NGINX: &str = r#"10.0.0.1 - ann [10/Oct/2000:13:55:36 -0700] "GET /a?b=1 HTTP/1.1" 200 512 "-" "curl \"7\"" 0.120 0.110, 0.004 : 0.001"#;

    #[test]
    fn an_access_log_of_nginx_has_its_times() {
        let layout = Layout::access(NGINX).expect("valid");
        assert_eq!(value(NGINX, &layout, "time"), "10/Oct/2000:13:55:36 -0700");
        assert_eq!(value(NGINX, &layout, "method"), "GET");
        assert_eq!(value(NGINX, &layout, "path"), "/a");
        assert_eq!(value(NGINX, &layout, "request_time"), "0.120");
        assert_eq!(value(NGINX, &layout, "upstream_response_time"), "0.110, 0.004 : 0.001");
        let other = NGINX.replace("0.110, 0.004 : 0.001", "-");
        assert_eq!(value(&other, &layout, "upstream_response_time"), "-");
    }

    #[test]
    fn keys_name_what_follows() {
        let line = r#"h - - [10/Oct/2000:13:55:36 -0700] "GET / HTTP/1.1" 200 5 "-" "x" "10.1.1.1" rt=0.5 urt="0.4, 0.1""#;
        let layout = Layout::access(line).expect("valid");
        assert_eq!(value(line, &layout, "rt"), "0.5");
        assert_eq!(value(line, &layout, "urt"), "0.4, 0.1");
        assert_eq!(layout.names[9], "part10");
    }

    #[test]
    fn an_access_log_of_apache_has_a_whole_number() {
        let line = r#"h - - [10/Oct/2000:13:55:36 -0700] "GET / HTTP/1.1" 200 - 1834"#;
        assert_eq!(value(line, &Layout::access(line).expect("valid"), "duration"), "1834");
    }

    #[test]
    fn envoy_has_its_durations() {
        let line = r#"[2016-04-15T20:17:00.310Z] "POST /api/v1/locations HTTP/2" 204 - 154 0 226 100 "10.0.35.28" "nsq2http" "cc21" "locations" "tcp://10.0.2.1:80""#;
        let layout = Layout::envoy(line).expect("valid");
        assert_eq!(value(line, &layout, "duration"), "226");
        assert_eq!(value(line, &layout, "upstream_service_time"), "100");
        let istio = r#"[2016-04-15T20:17:00.310Z] "GET / HTTP/1.1" 200 - via_upstream - "-" 0 48 3 2 "-" "curl" "id" "host" "10.1.1.1:80" outbound|80 10.1.1.2:1"#;
        let layout = Layout::envoy(istio).expect("valid");
        assert_eq!(value(istio, &layout, "duration"), "3");
        assert_eq!(value(istio, &layout, "authority"), "host");
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let layout = Layout::access(NGINX).expect("valid");
        for (line, expected) in [
            ("x", "the line has 1 parts, must have 11 like the first"),
            ("x \"y", "a `\"` of the line is not closed"),
            (&NGINX.replace("36 -0700]", "36 -0700"), "a `[` of the line is not closed"),
            (&NGINX.replace("200 512", "OK 512"), "the status is `OK`, must be a number"),
            (&NGINX.replace("\"-\"", "-"), "part 8 of the line is not `referer` as in the first"),
        ] {
            assert_eq!(row(&layout, line).expect_err(line), expected);
        }
        assert!(Layout::access("a b c").is_err());
        assert!(Layout::envoy(NGINX).is_err());
    }
}
