//! What a message says: text and images, as one string where it is only text.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// One piece of a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ContentPart {
    /// Plain text.
    Text {
        /// The text.
        text: String,
    },
    /// An image, by address or as a `data:` URL.
    ImageUrl {
        /// Where the image is.
        image_url: ImageUrl,
    },
}

/// The address of an image.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImageUrl {
    /// `https:` or `data:` URL.
    pub url: String,
}

/// All pieces of a message. On the wire: null when empty, a string for one text, else a list.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Content(pub Vec<ContentPart>);

impl Content {
    /// Whether nothing is said: no parts, or only blank text.
    pub fn is_blank(&self) -> bool {
        self.0
            .iter()
            .all(|part| matches!(part, ContentPart::Text { text } if text.trim().is_empty()))
    }

    /// All text of it; parts are joined by a line end.
    pub fn text(&self) -> String {
        let texts: Vec<&str> = self
            .0
            .iter()
            .filter_map(|part| match part {
                ContentPart::Text { text } => Some(text.as_str()),
                ContentPart::ImageUrl { .. } => None,
            })
            .collect();
        texts.join("\n")
    }

    /// The text, if it is one text part and nothing else.
    pub fn as_text(&self) -> Option<&str> {
        match self.0.as_slice() {
            [ContentPart::Text { text }] => Some(text),
            _ => None,
        }
    }
}

impl From<String> for Content {
    fn from(text: String) -> Self {
        if text.is_empty() { Self::default() } else { Self(vec![ContentPart::Text { text }]) }
    }
}

impl From<&str> for Content {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl From<Vec<ContentPart>> for Content {
    fn from(parts: Vec<ContentPart>) -> Self {
        Self(parts)
    }
}

impl Serialize for Content {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match (self.0.is_empty(), self.as_text()) {
            (true, _) => serializer.serialize_none(),
            (_, Some(text)) => serializer.serialize_str(text),
            _ => self.0.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Wire {
            Text(String),
            Parts(Vec<ContentPart>),
        }
        Ok(match Option::<Wire>::deserialize(deserializer)? {
            None => Self::default(),
            Some(Wire::Text(text)) => text.into(),
            Some(Wire::Parts(parts)) => Self(parts),
        })
    }
}
