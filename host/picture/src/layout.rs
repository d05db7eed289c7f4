//! Positions of boxes and ways of arrows, by the crate layout-rs.

use layout::core::base::Orientation;
use layout::core::format::{ClipHandle, RenderBackend};
use layout::core::geometry::{Point, Position};
use layout::core::style::StyleAttr;
use layout::std_shapes::shapes::{Arrow, Element, ShapeKind};
use layout::topo::layout::VisualGraph;

/// Space around a box: to its sides, and above and below it.
const SPACE_BESIDE: f64 = 28.0;
const SPACE_BELOW: f64 = 44.0;

/// A box, by its top left corner and its size.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Rectangle {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) width: f64,
    pub(crate) height: f64,
}

/// The way of an arrow, as the data of an SVG path; `is_turned` where it runs from its head to its tail.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Way {
    pub(crate) data: String,
    pub(crate) is_turned: bool,
}

/// Positions of everything.
#[derive(Debug, Default)]
pub(crate) struct Positions {
    pub(crate) boxes: Vec<Rectangle>,
    pub(crate) ways: Vec<Way>,
    pub(crate) width: f64,
    pub(crate) height: f64,
}

/// Places boxes of these sizes and the arrows between them, from the top down.
pub(crate) fn place(sizes: &[(f64, f64)], arrows: &[(usize, usize)]) -> Positions {
    let mut graph = VisualGraph::new(Orientation::TopToBottom);
    let look = StyleAttr::simple();
    let nodes: Vec<_> = (sizes.iter().enumerate())
        .map(|(at, (width, height))| {
            let size = Point::new(*width, *height);
            let shape = ShapeKind::new_box("");
            let name = format!("n{at}");
            let mut element =
                Element::create_with_properties(shape, look.clone(), Orientation::TopToBottom, size, name);
            element.pos = Position::new(Point::zero(), size, Point::zero(), Point::new(SPACE_BESIDE, SPACE_BELOW));
            graph.add_node(element)
        })
        .collect();
    for (at, (from, to)) in arrows.iter().enumerate() {
        // The library draws no loop that we could follow: those are drawn by ourselves.
        if let (Some(from), Some(to)) = (nodes.get(*from), nodes.get(*to))
            && from != to
        {
            graph.add_edge(Arrow::simple_with_properties("", format!("e{at}")), *from, *to);
        }
    }
    let mut found = Found(Positions {
        boxes: vec![Rectangle::default(); sizes.len()],
        ways: vec![Way::default(); arrows.len()],
        ..Positions::default()
    });
    if !nodes.is_empty() {
        graph.do_it(false, false, false, &mut found);
    }
    found.0
}

/// Collects positions as the library draws.
struct Found(Positions);

impl Found {
    fn reach(&mut self, point: Point) {
        self.0.width = self.0.width.max(point.x);
        self.0.height = self.0.height.max(point.y);
    }
}

impl RenderBackend for Found {
    fn draw_rect(
        &mut self,
        xy: Point,
        size: Point,
        _look: &StyleAttr,
        properties: Option<String>,
        _clip: Option<ClipHandle>,
    ) {
        self.reach(xy.add(size));
        let at = properties.and_then(|name| name.strip_prefix('n')?.parse::<usize>().ok());
        if let Some(place) = at.and_then(|at| self.0.boxes.get_mut(at)) {
            *place = Rectangle { x: xy.x, y: xy.y, width: size.x, height: size.y };
        }
    }

    fn draw_line(&mut self, _: Point, _: Point, _: &StyleAttr, _: Option<String>) {}

    fn draw_circle(&mut self, _: Point, _: Point, _: &StyleAttr, _: Option<String>) {}

    fn draw_text(&mut self, _: Point, _: &str, _: &StyleAttr) {}

    fn draw_arrow(
        &mut self,
        path: &[(Point, Point)],
        _dashed: bool,
        head: (bool, bool),
        _look: &StyleAttr,
        properties: Option<String>,
        _text: &str,
    ) {
        for (first, second) in path {
            self.reach(*first);
            self.reach(*second);
        }
        let at = properties.and_then(|name| name.strip_prefix('e')?.parse::<usize>().ok());
        if let Some(way) = at.and_then(|at| self.0.ways.get_mut(at)) {
            *way = Way { data: data_of(path), is_turned: head.0 };
        }
    }

    fn create_clip(&mut self, _: Point, _: Point, _: usize) -> ClipHandle {
        0
    }
}

/// Writes the curve through points, each with its control point, as the data of a path.
fn data_of(path: &[(Point, Point)]) -> String {
    let pair = |point: &Point| format!("{:.0},{:.0}", point.x, point.y);
    let mut data = String::new();
    for (at, (first, second)) in path.iter().enumerate() {
        match at {
            0 => data.push_str(&format!("M{} C{} ", pair(first), pair(second))),
            1 => data.push_str(&format!("{} {} ", pair(first), pair(second))),
            _ => data.push_str(&format!("S{} {} ", pair(first), pair(second))),
        }
    }
    data.trim_end().to_owned()
}
