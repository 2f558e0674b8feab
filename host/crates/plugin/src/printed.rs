//! What a guest prints: the end of it is kept, for the log of a call that fails. The model never
//! sees it, and printing never fails, however much a guest prints.

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use async_trait::async_trait;
use bytes::Bytes;
use tokio::io::AsyncWrite;
use wasmtime_wasi::cli::{IsTerminal, StdoutStream};
use wasmtime_wasi::p2::{OutputStream, Pollable, StreamResult};

/// Most that is kept.
const KEPT_BYTES: usize = 64 << 10;

/// Standard output and standard error of one call, together in the order of writing.
#[derive(Clone, Default)]
pub(crate) struct Printed(Arc<Mutex<VecDeque<u8>>>);

impl Printed {
    fn kept(&self) -> MutexGuard<'_, VecDeque<u8>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn append(&self, bytes: &[u8]) {
        let last = &bytes[bytes.len().saturating_sub(KEPT_BYTES)..];
        let mut kept = self.kept();
        let over = (kept.len() + last.len()).saturating_sub(KEPT_BYTES);
        kept.drain(..over);
        kept.extend(last);
    }

    /// The end of what was printed.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(self.kept().make_contiguous()).into_owned()
    }
}

impl IsTerminal for Printed {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdoutStream for Printed {
    fn async_stream(&self) -> Box<dyn AsyncWrite + Send + Sync> {
        Box::new(self.clone())
    }

    fn p2_stream(&self) -> Box<dyn OutputStream> {
        Box::new(self.clone())
    }
}

impl OutputStream for Printed {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        self.append(&bytes);
        Ok(())
    }

    fn flush(&mut self) -> StreamResult<()> {
        Ok(())
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        Ok(KEPT_BYTES)
    }
}

#[async_trait]
impl Pollable for Printed {
    async fn ready(&mut self) {}
}

impl AsyncWrite for Printed {
    fn poll_write(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.append(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_is_kept_however_much_is_printed() {
        let printed = Printed::default();
        printed.append(b"begin ");
        printed.append(&[b'x'; KEPT_BYTES - 4]);
        printed.append(b" end");
        let text = printed.text();
        assert_eq!((text.len(), &text[..2], &text[KEPT_BYTES - 4..]), (KEPT_BYTES, "xx", " end"));
        printed.append(&[b'y'; 3 * KEPT_BYTES]);
        assert_eq!(printed.text(), "y".repeat(KEPT_BYTES));
    }
}
