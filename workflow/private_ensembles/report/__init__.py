"""Tables, figures and the page that shows them; knows nothing of how results were computed."""
