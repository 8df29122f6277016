"""Where the mirror of a cluster comes from: files that kubectl printed, or an API server that is listed and watched.

The API server is spoken to with an aiohttp client of our own. A general client (kubernetes_asyncio, kr8s) turns every
pod into a full object, several kilobytes each, and keeps 150 000 of them alive; here a page of the list is decoded
straight into the few fields that estimation reads, and nothing else is ever built.
"""
