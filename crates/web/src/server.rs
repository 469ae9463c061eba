//! The workbench on this machine: one page and one address for questions, for whoever has the token.
//!
//! The server listens on 127.0.0.1 alone. A request needs the token of its address, the host name of this machine (so
//! that no other name that leads here is served), and no foreign origin. A question that is given up, because its
//! request is closed or its time is over, ends with the step it is in.

use std::cell::RefCell;
use std::future::{IntoFuture, ready};
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, Query, State};
use axum::http::{HeaderMap, HeaderValue, Response, StatusCode, header};
use axum::routing::{get, post};
use pfaff::{Files, Interrupt};
use serde_json::json;

use crate::{Workbench, page};

/// The longest question, in bytes: a model text may have 64 MiB, but nobody types that.
const LONGEST: usize = 16 << 20;
/// Questions at the same time. What cannot be ended in its midst (a derivation) takes its thread until it is done, and
/// must not keep others waiting.
const MOST: usize = 64;
/// How long a question may take.
const PATIENCE: Duration = Duration::from_mins(2);

/// What a server needs.
pub struct Server {
    /// Where to listen; 0 for any free port.
    pub port: u16,
    /// The files that models may read.
    pub files: Arc<dyn Files + Send + Sync>,
    /// The text that the page begins with, and its name; none for a model of the gallery.
    pub model: Option<(String, String)>,
}

struct Home {
    token: String,
    hosts: [String; 2],
    files: Arc<dyn Files + Send + Sync>,
    page: String,
    lessons: String,
    /// Questions that are being answered, also those that nobody waits for any more.
    under_way: AtomicUsize,
}

impl Server {
    /// Serves until the program ends. `ready` hears the address once the server listens.
    ///
    /// # Errors
    ///
    /// If the port is taken, or this machine gives no random numbers.
    pub fn run(self, ready: impl FnOnce(&str)) -> io::Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .max_blocking_threads(MOST)
            .build()?;
        runtime.block_on(async move {
            let place = SocketAddr::from((Ipv4Addr::LOCALHOST, self.port));
            let listener = tokio::net::TcpListener::bind(place).await?;
            let port = listener.local_addr()?.port();
            let token = token()?;
            let home = Home {
                page: whole_page(page::HTML, page::SCRIPT, &token, self.model.as_ref()),
                lessons: whole_page(page::LESSONS, page::LESSONS_SCRIPT, &token, None),
                under_way: AtomicUsize::new(0),
                hosts: [format!("127.0.0.1:{port}"), format!("localhost:{port}")],
                files: self.files,
                token,
            };
            ready(&format!("http://127.0.0.1:{port}/?token={}", home.token));
            axum::serve(listener, routes(home)).into_future().await
        })
    }
}

fn routes(home: Home) -> Router {
    Router::new()
        .route("/", get(show))
        .route("/lessons.html", get(show_lessons))
        .route("/ask", post(ask))
        .fallback(|| ready(refusal(StatusCode::NOT_FOUND, "there is nothing at this address")))
        .layer(DefaultBodyLimit::max(LONGEST))
        .with_state(Arc::new(home))
}

/// 128 random bits.
fn token() -> io::Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
    Ok(format!("{:032x}", u128::from_le_bytes(bytes)))
}

/// A page with everything inside, and the token by which it asks.
fn whole_page(
    html: &str,
    script: &str,
    token: &str,
    model: Option<&(String, String)>,
) -> String {
    let head = format!("<meta name=\"pfaff-token\" content=\"{token}\">");
    let model = model.map_or(String::new(), |(name, text)| {
        // NOTE: inside a script element only `</script` and `<!--` could end the data: no `<` is left.
        let data = json!({"name": name, "text": text}).to_string().replace('<', "\\u003c");
        format!("<script id=\"pfaff-model\" type=\"application/json\">{data}</script>\n")
    });
    let script = script.replace("</script", "<\\/script");
    let between =
        |text: &str, from: &str, to: &str, by: &str| match (text.find(from), text.find(to)) {
            (Some(a), Some(b)) if a < b => {
                format!("{}{by}{}", &text[..a], &text[b + to.len()..])
            }
            _ => text.to_owned(),
        };
    let html = html.replace("<!-- policy -->", &head);
    let style = format!("<style>{}</style>", page::STYLE);
    let html = between(&html, "<!-- style -->", "<!-- end of style -->", &style);
    let script = format!("{model}<script>{script}</script>");
    between(&html, "<!-- script -->", "<!-- end of script -->", &script)
}

/// What a page may do: run its own script, ask this server, and stand in a lesson; nothing else.
const POLICY: &str = "default-src 'none'; script-src 'unsafe-inline' 'wasm-unsafe-eval'; style-src 'unsafe-inline'; \
    img-src data: blob:; connect-src 'self'; worker-src blob:; frame-src 'self'; base-uri 'none'; \
    form-action 'none'; frame-ancestors 'self'";

type Words = Query<Vec<(String, String)>>;

async fn show(
    State(home): State<Arc<Home>>,
    words: Words,
    headers: HeaderMap,
) -> Response<Body> {
    shown(&home, &words, &headers, &home.page)
}

async fn show_lessons(
    State(home): State<Arc<Home>>,
    words: Words,
    headers: HeaderMap,
) -> Response<Body> {
    shown(&home, &words, &headers, &home.lessons)
}

fn shown(home: &Home, words: &Words, headers: &HeaderMap, page: &str) -> Response<Body> {
    let given = words.iter().find(|(key, _)| key == "token").map(|(_, value)| value.as_str());
    match refused(home, headers, given) {
        Some(refusal) => refusal,
        None => answer(StatusCode::OK, "text/html; charset=utf-8", page.to_owned()),
    }
}

async fn ask(
    State(home): State<Arc<Home>>,
    headers: HeaderMap,
    question: Bytes,
) -> Response<Body> {
    let given = headers.get("x-pfaff-token").and_then(|value| value.to_str().ok());
    if let Some(refusal) = refused(&home, &headers, given) {
        return refusal;
    }
    let Ok(question) = String::from_utf8(question.into()) else {
        return refusal(StatusCode::BAD_REQUEST, "a question is text");
    };
    let under_way = UnderWay::new(&home);
    if home.under_way.load(Ordering::Relaxed) > MOST {
        return refusal(StatusCode::SERVICE_UNAVAILABLE, "too many questions are under way");
    }
    let waiting = Arc::new(AtomicBool::new(true));
    // Dropped with this request, also when it is closed from the other side.
    let given_up = GivenUp(Arc::clone(&waiting));
    let work = move || {
        UNDER_WAY.set(Some((waiting, Instant::now())));
        let answer = Workbench::default()
            .with_files(&*home.files)
            .with_interrupt(Interrupt(is_over))
            .ask_while(&question, &mut || !is_over());
        UNDER_WAY.set(None);
        drop(under_way);
        answer
    };
    let done = tokio::task::spawn_blocking(work).await;
    drop(given_up);
    match done {
        Ok(text) => answer(StatusCode::OK, "application/json", text),
        Err(_) => {
            refusal(StatusCode::INTERNAL_SERVER_ERROR, "the question could not be answered")
        }
    }
}

thread_local! {
    /// The question of this thread: whether somebody still waits for it, and when it began.
    static UNDER_WAY: RefCell<Option<(Arc<AtomicBool>, Instant)>> = const { RefCell::new(None) };
}

/// Whether nobody waits for the question of this thread any more, or its time is over.
fn is_over() -> bool {
    UNDER_WAY.with_borrow(|question| {
        question.as_ref().is_some_and(|(waiting, begun)| {
            !waiting.load(Ordering::Relaxed) || begun.elapsed() > PATIENCE
        })
    })
}

/// One question more, until this is dropped.
struct UnderWay(Arc<Home>);

impl UnderWay {
    fn new(home: &Arc<Home>) -> Self {
        home.under_way.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(home))
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.0.under_way.fetch_sub(1, Ordering::Relaxed);
    }
}

struct GivenUp(Arc<AtomicBool>);

impl Drop for GivenUp {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

/// Why a request is not served.
fn refused(home: &Home, headers: &HeaderMap, token: Option<&str>) -> Option<Response<Body>> {
    let text = |name| headers.get(name).map(|value: &HeaderValue| value.to_str().unwrap_or(""));
    let host = text(header::HOST).unwrap_or("");
    if !home.hosts.iter().any(|own| own == host) {
        return Some(refusal(StatusCode::FORBIDDEN, "this server has another name"));
    }
    let foreign = |origin: &str| {
        let host = origin.strip_prefix("http://");
        !home.hosts.iter().any(|own| host == Some(own.as_str()))
    };
    if text(header::ORIGIN).is_some_and(foreign) {
        return Some(refusal(StatusCode::FORBIDDEN, "requests of other pages are not served"));
    }
    if !token.is_some_and(|token| equal(token.as_bytes(), home.token.as_bytes())) {
        return Some(refusal(
            StatusCode::FORBIDDEN,
            "the token is missing or wrong: open the address that `pfaff studio` printed",
        ));
    }
    None
}

/// Compares in a time that does not tell where two texts differ.
fn equal(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |sum, (x, y)| sum | (x ^ y)) == 0
}

fn refusal(status: StatusCode, why: &str) -> Response<Body> {
    let body = json!({"error": {"message": why, "diagnostics": []}}).to_string();
    answer(status, "application/json", body)
}

fn answer(status: StatusCode, media: &'static str, body: String) -> Response<Body> {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_TYPE, media),
        (header::CACHE_CONTROL, "no-store"),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}
